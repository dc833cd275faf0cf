import { existsSync, readFileSync, rmSync } from 'node:fs';
import { arch } from 'node:os';
import { join } from 'node:path';
import { setArchiveTimes } from './archive-times.ts';
import { run } from './commands.ts';
import { imageLabels, readMetadata } from './metadata.ts';

export interface ImageRequest {
  root: string;
  out: string;
  version: string;
  revision: string;
  /** The time of the commit in seconds since 1970. */
  timestamp: string;
}

export interface BuiltImage {
  /** Such as `linux/amd64`. */
  platforms: string[];
  /** The OCI archive. With several platforms it contains an index of their images. */
  file: string;
  /** The digest by which a registry names it. */
  digest: string;
}

const OWN = arch() === 'arm64' ? 'arm64' : 'amd64';
const OTHER = OWN === 'amd64' ? 'arm64' : 'amd64';
/** The kernel's file that says whether it can run programs of another architecture. */
const EMULATORS = { amd64: 'qemu-x86_64', arm64: 'qemu-aarch64' } as const;

/** Builds the image for every platform that this machine can build, and writes it as one OCI archive. */
export function buildImage(request: ImageRequest): BuiltImage {
  const { out, version, timestamp } = request;
  const canEmulate = existsSync(`/proc/sys/fs/binfmt_misc/${EMULATORS[OTHER]}`);
  const machines = canEmulate ? [OWN, OTHER] : [OWN];
  const tags = machines.map((machine) => buildFor(machine, request));
  const file = `agent-gateway-${version}.oci.tar`;
  const digestFile = join(out, '.digest');
  const target = ['--digestfile', digestFile];
  const archive = `oci-archive:${join(out, file)}:${version}`;
  const [only = ''] = tags;
  if (tags.length === 1) {
    buildah('push', ...target, only, archive);
  } else {
    const list = `localhost/agent-gateway-release:${version}`;
    buildah('manifest', 'create', list);
    for (const tag of tags) buildah('manifest', 'add', list, tag);
    buildah('manifest', 'push', '--all', '--rm', ...target, list, archive);
  }
  buildah('rmi', ...tags);
  setArchiveTimes(join(out, file), Number(timestamp));
  const digest = readFileSync(digestFile, 'utf8').trim();
  rmSync(digestFile);
  return { platforms: machines.map((machine) => `linux/${machine}`), file, digest };
}

/** Returns the name of the image in the local store. */
function buildFor(machine: string, { root, version, revision, timestamp }: ImageRequest): string {
  const tag = `localhost/agent-gateway-release:${version}-${machine}`;
  buildah(
    'bud',
    '--isolation=chroot',
    '--format=docker',
    '--layers=false',
    // Another architecture has another base image.
    ...(machine === OWN ? ['--pull=missing'] : ['--platform', `linux/${machine}`]),
    // It names the stages before the last one, whose ids are random.
    '--omit-history',
    // The same time in every version: a layer whose files are the same is the same layer.
    '--timestamp=0',
    `--label=org.opencontainers.image.created=${new Date(Number(timestamp) * 1_000).toISOString()}`,
    ...imageLabels(readMetadata(root)).map((label) => `--label=${label}`),
    `--tag=${tag}`,
    `--build-arg=VERSION=${version}`,
    `--build-arg=REVISION=${revision}`,
    root,
  );
  return tag;
}

function buildah(...args: string[]): string {
  const [command = 'buildah', ...flags] = (process.env.BUILDAH ?? 'buildah').split(' ');
  return run(command, [...flags, ...args]);
}
