import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Checks } from '../support/checks.ts';
import { runTool } from './tools.ts';

const ROOT = join(import.meta.dirname, '../..');
const INSTALL = join(ROOT, 'deploy/systemd/install.sh');

/** A machine, as far as files go, on which `install.sh` has installed the gateway. */
export interface InstalledMachine {
  /** Its root folder. */
  root: string;
  remove(): void;
}

/** What is taken for a built gateway. The checks of the files do not run it. */
function builtApp(folder: string, version: string): string {
  const app = join(folder, `app-${version}`);
  mkdirSync(join(app, 'dist'), { recursive: true });
  writeFileSync(join(app, 'dist/main.js'), `// ${version}\n`);
  writeFileSync(join(app, 'package.json'), JSON.stringify({ version }));
  return app;
}

function install(root: string, app: string): { code: number | null; output: string } {
  return runTool('bash', [INSTALL, app, process.execPath], { DESTDIR: root });
}

export function installedMachine(): InstalledMachine {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-units-'));
  const root = join(folder, 'root');
  const { code, output } = install(root, builtApp(folder, '1.2.3'));
  assert.equal(code, 0, output);
  // The units of the system itself, which ours begin after and belong to.
  cpSync('/lib/systemd/system', join(root, 'lib/systemd/system'), { recursive: true });
  return { root, remove: () => rmSync(folder, { recursive: true }) };
}

export async function checkInstall(checks: Checks): Promise<void> {
  checks.section('install.sh');
  const folder = mkdtempSync(join(tmpdir(), 'gateway-install-'));
  const root = join(folder, 'root');
  const versions = join(root, 'opt/agent-gateway');
  const current = (): string => readlinkSync(join(versions, 'current'));
  try {
    await checks.check('installs a version beside the one before, and points to it', () => {
      for (const version of ['1.0.0', '1.1.0']) {
        const { code, output } = install(root, builtApp(folder, version));
        assert.deepEqual(
          { code, output },
          { code: 0, output: `agent-gateway ${version} is in ${versions}/${version}\n` },
        );
        assert.equal(current(), version);
      }
      assert.deepEqual(readdirSync(versions).sort(), ['1.0.0', '1.1.0', 'current']);
      assert.deepEqual(readdirSync(join(versions, 'current')).sort(), [
        'bin',
        'dist',
        'package.json',
        'until-ready.mjs',
      ]);
      const { output } = runTool(join(versions, 'current/bin/node'), ['--version']);
      assert.equal(output, `${process.version}\n`);
    });

    await checks.check('installs the same version again, and leaves nothing of the old one', () => {
      writeFileSync(join(versions, '1.1.0/dist/old.js'), '');
      const { code } = install(root, join(folder, 'app-1.1.0'));
      assert.equal(code, 0);
      assert.deepEqual(readdirSync(join(versions, '1.1.0/dist')), ['main.js']);
      assert.deepEqual(readdirSync(versions).sort(), ['1.0.0', '1.1.0', 'current']);
    });

    await checks.check('keeps the settings for root alone', () => {
      assert.equal(statSync(join(root, 'etc/agent-gateway')).mode & 0o777, 0o700);
    });

    await checks.check('refuses a gateway that is not built, and changes nothing', () => {
      const app = builtApp(folder, '2.0.0');
      rmSync(join(app, 'dist'), { recursive: true });
      assert.deepEqual(install(root, app), {
        code: 1,
        output: `${app} has no dist/main.js: build the gateway first\n`,
      });
      assert.equal(current(), '1.1.0');
    });

    await checks.check('shows its use when something is left out', () => {
      const { code, output } = runTool('bash', [INSTALL]);
      assert.equal(code, 2);
      assert.match(
        output,
        /^Installs a built gateway as systemd units: install\.sh APP NODE, as root\.\n/,
      );
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
