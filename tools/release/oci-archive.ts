import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './commands.ts';

/** A package of the distribution, as the image's `status.d` describes it. */
export interface SystemPackage {
  name: string;
  version: string;
  /** The source package, such as `glibc` of `libc6`. */
  source: string;
  architecture: string;
  /** Such as `debian-12`. */
  distribution: string;
}

/** One platform's image in an archive. */
export interface ArchivedImage {
  architecture: string;
  /** The digests of the layers, the lowest first. */
  layers: string[];
  packages: SystemPackage[];
}

interface Descriptor {
  digest: string;
}
interface Manifest {
  manifests?: Descriptor[];
  config: Descriptor;
  layers: Descriptor[];
}

/** The images of an OCI archive (OCI image layout), without an engine to run them. */
export function readArchive(file: string): ArchivedImage[] {
  const folder = mkdtempSync(join(tmpdir(), 'release-archive-'));
  try {
    run('tar', ['-xf', file, '-C', folder]);
    return imagesOf(folder, readJson<Manifest>(join(folder, 'index.json')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function imagesOf(folder: string, { manifests, config, layers }: Manifest): ArchivedImage[] {
  if (manifests) {
    return manifests.flatMap(({ digest }) => imagesOf(folder, readJson(blob(folder, digest))));
  }
  const { architecture } = readJson<{ architecture: string }>(blob(folder, config.digest));
  const [lowest] = layers;
  if (!lowest) throw new Error('The image has no layers.');
  const packages = packagesOf(folder, blob(folder, lowest.digest));
  return [{ architecture, layers: layers.map(({ digest }) => digest), packages }];
}

function packagesOf(folder: string, layer: string): SystemPackage[] {
  const root = join(folder, 'root');
  mkdirSync(root, { recursive: true });
  run('tar', ['-xf', layer, '-C', root, 'var/lib/dpkg/status.d', 'etc/os-release']);
  const status = join(root, 'var/lib/dpkg/status.d');
  const release = readFileSync(join(root, 'etc/os-release'), 'utf8');
  const distribution = `${release.match(/^ID=(\S+)$/m)?.[1]}-${release.match(/^VERSION_ID="?([^"\n]+)/m)?.[1]}`;
  return readdirSync(status)
    .sort()
    .map((name) => {
      const text = readFileSync(join(status, name), 'utf8');
      const field = (key: string): string | undefined =>
        new RegExp(`^${key}: (\\S+)`, 'm').exec(text)?.[1];
      const version = field('Version');
      const architecture = field('Architecture');
      if (version === undefined || architecture === undefined) {
        throw new Error(`The image does not tell the version of ${name}.`);
      }
      return { name, version, source: field('Source') ?? name, architecture, distribution };
    });
}

function blob(folder: string, digest: string): string {
  return join(folder, 'blobs', digest.replace(':', '/'));
}

function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, 'utf8')) as Value;
}
