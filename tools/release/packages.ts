import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setArchiveTimes } from './archive-times.ts';
import { run } from './commands.ts';
import { sha256Of } from './provenance.ts';
import type { Component } from './runtime-components.ts';
import { WORKSPACES } from './workspaces.ts';

/** The parts of a CycloneDX bill that are used. */
interface Bill {
  serialNumber?: string;
  metadata?: { timestamp?: string };
  components: object[];
}

/** Builds the npm packages. npm chooses the names of their files. */
export function packWorkspaces(root: string, out: string): void {
  for (const name of WORKSPACES) {
    const workspace = `@agent-gateway/${name}`;
    run('npm', ['pack', '--silent', '--workspace', workspace, '--pack-destination', out], {
      cwd: root,
    });
  }
}

/**
 * The software bill of materials of each artifact, as CycloneDX. Each is made in a folder of its own with only its
 * dependencies: in the project's folder, npm 11's `--omit dev` also drops every package that another one names as a
 * development dependency, such as `@nestjs/core`. The hooks and the transport have none: they bring no
 * other package along. The MCP server has none either: npm cannot list a package whose dependency is another workspace. `ofImage` is what the
 * image has beside npm's packages.
 */
export function writeBillsOfMaterials(
  root: string,
  out: string,
  version: string,
  ofImage: readonly Component[],
): void {
  const folders = {
    'agent-gateway': '.',
    'agent-gateway-client': 'packages/client',
    'agent-gateway-cli': 'packages/cli',
  };
  for (const [name, folder] of Object.entries(folders)) {
    const scratch = mkdtempSync(join(tmpdir(), 'release-sbom-'));
    try {
      // npm takes the bill's name from the folder.
      const cwd = join(scratch, name);
      mkdirSync(cwd);
      cpSync(join(root, 'package-lock.json'), join(cwd, 'package-lock.json'));
      writeFileSync(
        join(cwd, 'package.json'),
        withoutDevelopment(join(root, folder, 'package.json')),
      );
      // Removes unused packages from the lock file. It needs no network.
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
      const bill = JSON.parse(run('npm', args, { cwd })) as Bill;
      if (name === 'agent-gateway') bill.components.push(...ofImage);
      writeFileSync(join(out, `${name}-${version}.cdx.json`), steady(bill));
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

/** Time and serial number are left out, so that one commit always gives the same bytes. */
function steady(bill: Bill): string {
  delete bill.serialNumber;
  delete bill.metadata?.timestamp;
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

/**
 * Packages the chart, which uses this image unless a value says otherwise. Its files have the time of the commit, in seconds since 1970.
 * Returns the name of the file.
 */
export function packChart(
  root: string,
  out: string,
  version: string,
  digest: string,
  timestamp: number,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'release-chart-'));
  try {
    const chart = join(folder, 'agent-gateway');
    cpSync(join(root, 'helm/agent-gateway'), chart, { recursive: true });
    // Not into values.yaml: there it would win over a tag that somebody gives.
    const path = join(chart, 'Chart.yaml');
    const description = readFileSync(path, 'utf8');
    const withDigest = description.replace(
      /^annotations:$/m,
      `$&\n  agent-gateway/image-digest: ${digest}`,
    );
    if (withDigest === description) throw new Error('Chart.yaml has no annotations.');
    writeFileSync(path, withDigest);
    // What the suite calls ci/ are examples to whoever has the package alone.
    renameSync(join(chart, 'ci'), join(chart, 'examples'));
    const args = ['package', chart, '--version', version, '--app-version', version];
    run('helm', [...args, '--destination', out]);
    const name = `agent-gateway-${version}.tgz`;
    setArchiveTimes(join(out, name), timestamp);
    return name;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes `SHA256SUMS` for `sha256sum --check`. */
export function writeChecksums(out: string): void {
  const names = readdirSync(out).filter((name) => name !== 'SHA256SUMS');
  const lines = names.sort().map((name) => `${sha256Of(join(out, name))}  ${name}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
}
