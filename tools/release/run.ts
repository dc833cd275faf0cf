/** `npm run release`: creates all artifacts of a release in one folder, and pushes them to the given registries. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { has, run } from './commands.ts';
import { buildImage } from './image.ts';
import { readMetadata, setMetadata, strayMetadata, unfinished } from './metadata.ts';
import { notesOf } from './notes.ts';
import { packChart, packWorkspaces, writeBillsOfMaterials, writeChecksums } from './packages.ts';
import { readArchive } from './oci-archive.ts';
import { writeProvenance } from './provenance.ts';
import { push, sign, type Targets } from './push.ts';
import { nodeComponents, systemComponents, type Component } from './runtime-components.ts';
import { disagreements, projectVersion, setVersion } from './versions.ts';

const ROOT = join(import.meta.dirname, '../..');
const HELP = `npm run release -- --dry-run [--out DIR]
npm run release -- --image REPOSITORY --chart OCI_REGISTRY --npm REGISTRY [--out DIR]
npm run release -- --set-version VERSION
npm run release -- --set-metadata

Makes a release from a clean tree: the image as an OCI archive, for each platform that this machine can build; the chart
with that image's digest; the npm packages of client, hooks and command line; SBOMs, that of the image with Node, OpenSSL and
glibc; the provenance of each file (in-toto, SLSA), checksums, and notes from CHANGELOG.md.

  --dry-run       Push nothing.
  --image, --chart, --npm
                  Push the image, the chart, the npm packages there. What is not named is not pushed.
  --out DIR       An empty or new folder. Default: tools/release/out
  --set-version   Write this version wherever it stands, and end.
  --set-metadata  Write homepage, repository, maintainers and licence of tools/release/metadata.json wherever they stand,
                  and end. While these are placeholders, nothing is pushed.

COSIGN_KEY names a key of cosign: with it the checksums and a pushed image are signed.
Needs git, npm, helm and buildah (as root, or with user namespaces); skopeo to push an image. BUILDAH may hold flags, such as a storage driver.
`;

const { values: options } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    image: { type: 'string' },
    chart: { type: 'string' },
    npm: { type: 'string' },
    out: { type: 'string', default: join(ROOT, 'tools/release/out') },
    'set-version': { type: 'string' },
    'set-metadata': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

try {
  if (options.help) say(HELP.trimEnd());
  else if (options['set-version'] !== undefined) writeVersion(options['set-version']);
  else if (options['set-metadata']) writeMetadata();
  else release();
} catch (error) {
  say(`release: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

function writeLockFile(): void {
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: ROOT,
  });
}

function writeMetadata(): void {
  setMetadata(ROOT);
  writeLockFile();
  say('The metadata is written. Run helm-docs -c helm.');
}

function writeVersion(version: string): void {
  setVersion(ROOT, version);
  writeLockFile();
  run('npm', ['run', '--silent', 'openapi'], { cwd: ROOT });
  say(
    `The version is ${version}. Name its section in CHANGELOG.md, and run helm-docs -c helm -s file.`,
  );
}

function release(): void {
  const targets: Targets = { image: options.image, chart: options.chart, npm: options.npm };
  const isNamed = Object.values(targets).some((target) => target !== undefined);
  if (options['dry-run'] === isNamed) {
    throw new Error('Give either --dry-run, or what to push to: --image, --chart, --npm.');
  }
  const pushing = targets.image === undefined ? [] : ['skopeo'];
  const notForPublishing = unfinished(ROOT);
  if (isNamed && notForPublishing !== undefined) throw new Error(notForPublishing);
  const key = process.env.COSIGN_KEY;
  const signing = key ? ['cosign'] : [];
  const missing = ['git', 'npm', 'helm', 'buildah', ...pushing, ...signing].filter(
    (command) => !has(command),
  );
  if (missing.length > 0) throw new Error(`${missing.join(', ')} is missing.`);
  const version = projectVersion(ROOT);
  const problems = [
    ...disagreements(ROOT),
    ...strayMetadata(ROOT).map((file) => `${file} has other metadata than metadata.json`),
  ];
  if (problems.length > 0) throw new Error(problems.join('; '));
  const notes = notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version);
  const changed = run('git', ['status', '--porcelain'], { cwd: ROOT });
  if (changed !== '') throw new Error(`The tree is not clean:\n${changed}`);
  const out = resolve(options.out);
  mkdirSync(out, { recursive: true });
  if (readdirSync(out).length > 0) throw new Error(`${out} is not empty.`);

  const [revision = '', timestamp = ''] = run('git', ['log', '-1', '--format=%H %ct'], {
    cwd: ROOT,
  })
    .trim()
    .split(' ');
  say('image');
  const image = buildImage({ root: ROOT, out, version, revision, timestamp });
  say('npm packages, chart, SBOMs, provenance');
  packWorkspaces(ROOT, out);
  writeBillsOfMaterials(ROOT, out, version, runtimeOf(join(out, image.file)));
  const chart = packChart(ROOT, out, version, image.digest, Number(timestamp));
  writeProvenance(out, { version, revision, baseImage: baseImage() }, readMetadata(ROOT));
  writeFileSync(join(out, 'NOTES.md'), notes);
  writeFileSync(
    join(out, 'image.json'),
    `${JSON.stringify({ version, revision, ...image }, undefined, 2)}
`,
  );
  writeChecksums(out);
  say(sign(out, key));
  if (isNamed) {
    push(out, version, { image: image.file, digest: image.digest, chart }, targets, key);
  }
  for (const name of readdirSync(out).sort()) {
    say(`${String(statSync(join(out, name)).size).padStart(11)}  ${name}`);
  }
  say(isNamed ? `${version} is pushed.` : `${version} is in ${out}; nothing was pushed.`);
  if (notForPublishing !== undefined) say(`Before it can be pushed: ${notForPublishing}`);
}

/** Such as `docker.io/library/node:24.21.0-bookworm-slim`. */
function baseImage(): string {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  return /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1] ?? '';
}

/** What the image has beside npm's packages. npm runs this program on the same version of Node as the image's. */
function runtimeOf(archive: string): Component[] {
  const { node } = process.versions;
  if (!baseImage().includes(`:${node}-`)) {
    throw new Error(`This is Node ${node}, and the image has another one: use npm run release.`);
  }
  const packages = readArchive(archive).flatMap((image) => image.packages);
  return [...nodeComponents(process.versions), ...systemComponents(packages)];
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
