import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePage } from '../docs/markdown.ts';
import type { Checks } from '../support/checks.ts';
import { environmentDefaults } from '../support/environment-defaults.ts';
import { installedMachine } from './install.ts';
import { runTool } from './tools.ts';

const PAGE = 'docs/one-machine.md';
const ROOT = join(import.meta.dirname, '../..');
const SERVICE = join(ROOT, 'deploy/systemd/agent-gateway@.service');

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

  await checks.check('gives a copy more time to stop than its drain takes', () => {
    const drainSeconds = Number(environmentDefaults().get('GATEWAY_DRAIN_TIMEOUT_MS')) / 1000;
    assert.ok(Number(setting('TimeoutStopSec')) >= drainSeconds + MIN_SPARE_SECONDS);
    assert.equal(setting('KillSignal'), 'SIGTERM');
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
