/** `npm run release`: creates all artifacts of a release in one folder, and pushes them to the given registries. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { has, run } from './commands.ts';
import { buildImage } from './image.ts';
import { notesOf } from './notes.ts';
import { packChart, packWorkspaces, writeBillsOfMaterials, writeChecksums } from './packages.ts';
import { push, type Targets } from './push.ts';
import { disagreements, projectVersion, setVersion } from './versions.ts';

const ROOT = join(import.meta.dirname, '../..');
const HELP = `npm run release -- --dry-run [--out DIR]
npm run release -- --image REPOSITORY --chart OCI_REGISTRY --npm REGISTRY [--out DIR]
npm run release -- --set-version VERSION

Makes a release from a clean tree: the image as an OCI archive, for each platform that this machine can build; the chart
with that image's digest; the npm packages of client, hooks and command line, SBOMs, checksums, and notes from CHANGELOG.md.

  --dry-run       Push nothing.
  --image, --chart, --npm
                  Push the image, the chart, the npm packages there. What is not named is not pushed.
  --out DIR       An empty or new folder. Default: tools/release/out
  --set-version   Write this version wherever it stands, and end.

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
    help: { type: 'boolean', default: false },
  },
});

try {
  if (options.help) say(HELP.trimEnd());
  else if (options['set-version'] !== undefined) writeVersion(options['set-version']);
  else release();
} catch (error) {
  say(`release: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

function writeVersion(version: string): void {
  setVersion(ROOT, version);
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: ROOT,
  });
  run('npm', ['run', '--silent', 'openapi'], { cwd: ROOT });
  say(`The version is ${version}. Name its section in CHANGELOG.md, and run helm-docs -c helm.`);
}

function release(): void {
  const targets: Targets = { image: options.image, chart: options.chart, npm: options.npm };
  const isNamed = Object.values(targets).some((target) => target !== undefined);
  if (options['dry-run'] === isNamed) {
    throw new Error('Give either --dry-run, or what to push to: --image, --chart, --npm.');
  }
  const pushing = targets.image === undefined ? [] : ['skopeo'];
  const missing = ['git', 'npm', 'helm', 'buildah', ...pushing].filter((command) => !has(command));
  if (missing.length > 0) throw new Error(`${missing.join(', ')} is missing.`);
  const version = projectVersion(ROOT);
  const problems = disagreements(ROOT);
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
  say('npm packages, chart, SBOMs');
  packWorkspaces(ROOT, out);
  writeBillsOfMaterials(ROOT, out, version);
  const chart = packChart(ROOT, out, version, image.digest);
  writeFileSync(join(out, 'NOTES.md'), notes);
  writeFileSync(
    join(out, 'image.json'),
    `${JSON.stringify({ version, revision, ...image }, undefined, 2)}
`,
  );
  writeChecksums(out);
  if (isNamed) push(out, version, { image: image.file, chart }, targets);
  for (const name of readdirSync(out).sort()) {
    say(`${String(statSync(join(out, name)).size).padStart(11)}  ${name}`);
  }
  say(isNamed ? `${version} is pushed.` : `${version} is in ${out}; nothing was pushed.`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
