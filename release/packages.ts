import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './commands.ts';

/** The npm packages, built anew. Their files have the names that npm gives them. */
export function packWorkspaces(root: string, out: string): void {
  for (const workspace of ['client', 'cli']) {
    run('npm', ['pack', '--silent', '--workspace', workspace, '--pack-destination', out], {
      cwd: root,
    });
  }
}

/**
 * What each thing is made of, as CycloneDX. Each is asked for in a folder of its own, with nothing but its dependencies: in the
 * project's, npm 11's `--omit dev` leaves out whatever any package names as a development dependency, such as `@nestjs/core`.
 */
export function writeBillsOfMaterials(root: string, out: string, version: string): void {
  const folders = {
    'agent-gateway': '.',
    'agent-gateway-client': 'client',
    'agent-gateway-cli': 'cli',
  };
  for (const [name, folder] of Object.entries(folders)) {
    const scratch = mkdtempSync(join(tmpdir(), 'release-sbom-'));
    try {
      // npm names the bill after the folder.
      const cwd = join(scratch, name);
      mkdirSync(cwd);
      cpSync(join(root, 'package-lock.json'), join(cwd, 'package-lock.json'));
      writeFileSync(
        join(cwd, 'package.json'),
        withoutDevelopment(join(root, folder, 'package.json')),
      );
      // Takes from the lock file what is no longer asked for. The lock file knows the rest: no network.
      run(
        'npm',
        ['install', '--package-lock-only', '--ignore-scripts', '--offline', '--loglevel', 'error'],
        { cwd },
      );
      const args = [
        'sbom',
        '--sbom-format',
        'cyclonedx',
        '--package-lock-only',
        '--omit',
        'optional',
      ];
      writeFileSync(join(out, `${name}-${version}.cdx.json`), steady(run('npm', args, { cwd })));
    } finally {
      rmSync(scratch, { recursive: true });
    }
  }
}

function withoutDevelopment(path: string): string {
  const description = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  for (const key of ['devDependencies', 'workspaces', 'scripts']) delete description[key];
  return JSON.stringify(description);
}

/** Without a time and a number of its own, so that one commit gives the same bytes. */
function steady(text: string): string {
  const bill = JSON.parse(text) as { serialNumber?: string; metadata?: { timestamp?: string } };
  delete bill.serialNumber;
  delete bill.metadata?.timestamp;
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

/** The chart as a package, which takes this image unless a value says otherwise. Answers the name of its file. */
export function packChart(root: string, out: string, version: string, digest: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'release-chart-'));
  try {
    const chart = join(folder, 'agent-gateway');
    cpSync(join(root, 'helm/agent-gateway'), chart, { recursive: true });
    const path = join(chart, 'values.yaml');
    const values = readFileSync(path, 'utf8');
    const withDigest = values.replace(/^( {2}digest:) ''$/m, `$1 ${digest}`);
    if (withDigest === values) throw new Error('values.yaml has no empty image.digest to fill in.');
    writeFileSync(path, withDigest);
    const args = ['package', chart, '--version', version, '--app-version', version];
    run('helm', [...args, '--destination', out]);
    return `agent-gateway-${version}.tgz`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `SHA256SUMS`, as `sha256sum --check` reads it. */
export function writeChecksums(out: string): void {
  const names = readdirSync(out).filter((name) => name !== 'SHA256SUMS');
  const lines = names.sort().map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
}
