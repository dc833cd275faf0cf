import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePage } from '../docs/markdown.ts';
import type { Checks } from '../support/checks.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { environmentDefaults } from '../support/environment-defaults.ts';
import { installedMachine } from './install.ts';
import { runTool } from './tools.ts';

const PAGE = 'docs/one-machine.md';
const ROOT = join(import.meta.dirname, '../..');
const SERVICE = join(ROOT, 'deploy/systemd/agent-gateway@.service');
const UNTIL_READY = join(ROOT, 'deploy/systemd/until-ready.mjs');

/**
 * The highest exposure in tenths, of 100. The rest is what the gateway needs: sockets, /proc/net, and memory for code that Node
 * compiles.
 */
const MAX_EXPOSURE = 12;
/** Time from the end of the drain to the end of the process, in seconds. */
const MIN_SPARE_SECONDS = 5;

export async function checkUnits(checks: Checks): Promise<void> {
  checks.section('systemd');
  const machine = installedMachine();
  const verify = (...units: string[]): { code: number | null; output: string } =>
    runTool('systemd-analyze', [`--root=${machine.root}`, '--man=no', 'verify', ...units]);
  try {
    await checks.check('finds no fault in the units, nor in what they run', () => {
      assert.deepEqual(verify('agent-gateway@9101.service', 'agent-gateway.target'), {
        code: 0,
        output: '',
      });
    });

    await checks.check('finds no fault in the drop-in of docs/one-machine.md', () => {
      const page = parsePage(PAGE, readFileSync(join(ROOT, PAGE), 'utf8'));
      const dropIns = page.blocks.filter(({ language }) => language === 'ini');
      const folder = join(machine.root, 'etc/systemd/system/agent-gateway@.service.d');
      mkdirSync(folder);
      for (const [index, { text }] of dropIns.entries()) {
        writeFileSync(join(folder, `${index}.conf`), text);
      }
      assert.equal(dropIns.length, 1);
      assert.deepEqual(verify('agent-gateway@9101.service'), { code: 0, output: '' });
    });

    await checks.check('finds the unit well closed', () => {
      const { code, output } = runTool('systemd-analyze', [
        'security',
        '--offline=true',
        `--threshold=${MAX_EXPOSURE}`,
        '--no-pager',
        SERVICE,
      ]);
      assert.equal(code, 0, output);
    });
  } finally {
    machine.remove();
  }

  // systemd continues to wait for it: a wrong setting took `roll.sh` a minute.
  await checks.check('gives up at once on a copy that has ended', async () => {
    const copy = spawn(process.execPath, ['--eval', '0']);
    await once(copy, 'exit');
    const { code, output } = runTool(process.execPath, [UNTIL_READY], {
      GATEWAY_HOST: '127.0.0.1',
      // Nothing listens there.
      GATEWAY_MANAGEMENT_PORT: '1',
      MAINPID: String(copy.pid),
    });
    assert.deepEqual({ code, output }, { code: 1, output: 'the copy ended before it was ready\n' });
  });

  await checks.check('waits for a copy that runs until it is ready', async () => {
    let asked = 0;
    const copy = await startScriptedUpstream((_request, response) => {
      response.statusCode = ++asked < 3 ? 503 : 200;
      response.end();
    });
    const waiting = spawn(process.execPath, [UNTIL_READY], {
      env: {
        GATEWAY_HOST: '127.0.0.1',
        GATEWAY_MANAGEMENT_PORT: new URL(copy.url).port,
        MAINPID: String(process.pid),
      },
    });
    assert.deepEqual([await once(waiting, 'exit'), asked], [[0, null], 3]);
    await copy.stop();
  });

  await checks.check('gives a copy more time to stop than its drain takes', () => {
    const drainSeconds = Number(environmentDefaults().get('GATEWAY_DRAIN_TIMEOUT_MS')) / 1000;
    assert.ok(Number(setting('TimeoutStopSec')) >= drainSeconds + MIN_SPARE_SECONDS);
    assert.equal(setting('KillSignal'), 'SIGTERM');
  });

  // 45,000 refusals in six seconds hid the audit line of a DELETE, and no counter said so.
  await checks.check('lets journald take a flood of lines, and has the audit apart from it', () => {
    assert.equal(setting('LogRateLimitIntervalSec'), '1s');
    assert.equal(setting('LogRateLimitBurst'), '1000000');
    assert.match(unit(), /^Environment=GATEWAY_AUDIT_FILE=%L\/agent-gateway\/audit-%i\.log$/m);
    assert.equal(setting('LogsDirectory'), 'agent-gateway');
    const rotation = readFileSync(join(ROOT, 'deploy/systemd/agent-gateway.logrotate'), 'utf8');
    assert.match(rotation, /^\/var\/log\/agent-gateway\/audit-\*\.log \{$/m);
    // What is written between the move and the new file is in the old one, which is not compressed yet.
    assert.match(rotation, /^  delaycompress$/m);
    assert.doesNotMatch(rotation, /copytruncate/);
  });

  await checks.check('sets only what is a setting, and its own management port', () => {
    const set = unit().matchAll(/^Environment=(GATEWAY_\w+)=(.*)$/gm);
    const variables = new Map([...set].map(([, name = '', value]) => [name, value]));
    const known = environmentDefaults();
    assert.deepEqual(
      [...variables.keys()].filter((name) => !known.has(name)),
      [],
    );
    assert.equal(variables.get('GATEWAY_MANAGEMENT_PORT'), '%i');
    assert.equal(variables.get('GATEWAY_REUSE_PORT'), 'true');
  });
}

function unit(): string {
  return readFileSync(SERVICE, 'utf8');
}

function setting(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(unit())?.[1];
}
