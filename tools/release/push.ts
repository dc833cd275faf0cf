import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.ts';
import { WORKSPACES } from './workspaces.ts';

/** The targets of a release. There is no default: only named targets are pushed to. */
export interface Targets {
  /** A repository, such as `registry.example/agents/agent-gateway`. */
  image: string | undefined;
  /** An OCI registry, such as `oci://registry.example/charts`. */
  chart: string | undefined;
  /** An npm registry, such as `https://registry.example/npm/`. */
  npm: string | undefined;
}

/**
 * Signs `SHA256SUMS`, and with it every file that it lists, with the key of `COSIGN_KEY`, into `SHA256SUMS.sigstore.json`.
 * Returns what it did, in words.
 */
export function sign(out: string, key: string | undefined): string {
  if (!key) return 'Nothing is signed: COSIGN_KEY names no key.';
  const bundle = join(out, 'SHA256SUMS.sigstore.json');
  const sums = join(out, 'SHA256SUMS');
  run('cosign', ['sign-blob', '--yes', '--key', key, '--bundle', bundle, sums]);
  return 'SHA256SUMS is signed.';
}

/** Pushes the files of `out` to the named targets. Each tool uses its own login. */
export function push(
  out: string,
  version: string,
  files: { image: string; digest: string; chart: string },
  { image, chart, npm }: Targets,
  key: string | undefined,
): void {
  if (image !== undefined) {
    // The image is pushed unchanged, because the chart contains its digest.
    const archive = `oci-archive:${join(out, files.image)}`;
    run('skopeo', ['copy', '--all', '--preserve-digests', archive, `docker://${image}:${version}`]);
    if (key) run('cosign', ['sign', '--yes', '--key', key, `${image}@${files.digest}`]);
  }
  if (chart !== undefined) run('helm', ['push', join(out, files.chart), chart]);
  if (npm === undefined) return;
  const packed = new RegExp(`^agent-gateway-(?:${WORKSPACES.join('|')})-.*\\.tgz$`);
  const packages = readdirSync(out).filter((name) => packed.test(name));
  for (const name of packages) {
    run('npm', ['publish', join(out, name), '--registry', npm, '--access', 'public']);
  }
}
