/**
 * Makes a release twice as `npm run release -- --dry-run` does, compares, and installs what came out: `npm run test:release`. It builds
 * the next version, too, to see what stays the same; `-- --once` makes one alone. With KEEP_IMAGE the image of the release stays under this
 * name, for `test:image`. Needs root and what the release needs; without a container registry the base of the image is made as `test:image`
 * makes it.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { run } from '../../tools/release/commands.ts';
import { buildImage } from '../../tools/release/image.ts';
import { missingPackages } from '../../tools/release/lock-file.ts';
import { readMetadata } from '../../tools/release/metadata.ts';
import { readArchive } from '../../tools/release/oci-archive.ts';
import { sign } from '../../tools/release/push.ts';
import { projectVersion, setVersion } from '../../tools/release/versions.ts';
import { Checks } from '../support/checks.ts';

const ROOT = join(import.meta.dirname, '../..');
const store = process.env.IMAGE_TEST_STORE ?? join(tmpdir(), 'agent-gateway-image-test');
const BUILDAH = `buildah --storage-driver vfs --root ${store}/storage --runroot ${store}/run`;
const folder = mkdtempSync(join(tmpdir(), 'gateway-release-'));
const clone = join(folder, 'clone');
const out = join(folder, 'out');
const version = projectVersion(ROOT);
const env = {
  ...process.env,
  BUILDAH,
  PATH: [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter),
};
const checks = new Checks();
const isOnce = process.argv.includes('--once');
const names = {
  client: `agent-gateway-client-${version}.tgz`,
  react: `agent-gateway-react-${version}.tgz`,
  aiSdk: `agent-gateway-ai-sdk-${version}.tgz`,
  agUi: `agent-gateway-ag-ui-${version}.tgz`,
  cli: `agent-gateway-cli-${version}.tgz`,
  mcp: `agent-gateway-mcp-${version}.tgz`,
  chart: `agent-gateway-${version}.tgz`,
};

const archive = `agent-gateway-${version}.oci.tar`;

/** A component of a CycloneDX bill. */
interface Component {
  name: string;
  version: string;
  purl: string;
  licenses?: object[];
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function readOut<Content>(name: string): Content {
  return JSON.parse(readFileSync(join(out, name), 'utf8')) as Content;
}

const BILL = `agent-gateway-${version}.cdx.json`;

function release(...args: string[]): string {
  return run('npm', ['run', '--silent', 'release', '--', ...args], { cwd: clone, env });
}

const releaseTo = (to: string): string => release('--dry-run', '--out', to);

/** A buildah that gives an image this name, too, before it removes it as the release asks. */
function keepingBuildah(name: string): string {
  const path = join(folder, 'buildah');
  const script = `#!/bin/sh\n[ "$1" = rmi ] && ${BUILDAH} tag "$2" "${name}"\nexec ${BUILDAH} "$@"\n`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

/** Installs an npm package in an empty folder and returns the output of a script there. */
function installed(name: string, tarball: string, script: string): string {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), '{"private":true,"type":"module"}');
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  run('npm', [...install, '--loglevel=error', join(out, tarball)], { cwd, env });
  return run('bash', ['-c', script], { cwd, env });
}

try {
  const [, base = ''] =
    /^ARG NODE_IMAGE=(\S+)/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? [];
  const prepare = `${BUILDAH} inspect --type image "${base}" >/dev/null 2>&1 || bash test/image/base-image.sh "${base}"`;
  execFileSync('bash', ['-c', prepare], { cwd: ROOT, env, stdio: 'ignore' });
  // A clean tree of the last commit, whatever is being worked on here.
  run('git', ['clone', '--quiet', ROOT, clone]);
  run('cp', ['-al', join(ROOT, 'node_modules'), join(clone, 'node_modules')]);
  if (process.env.KEEP_IMAGE) env.BUILDAH = keepingBuildah(process.env.KEEP_IMAGE);

  await checks.check('a dry run makes everything, and says that nothing was pushed', async () => {
    const said = releaseTo(out);
    assert.match(said, new RegExp(`^${version} is in \\S+; nothing was pushed\\.$`, 'm'));
    assert.match(said, /^Nothing is signed: COSIGN_KEY names no key\.$/m);
    assert.deepEqual(
      readdirSync(out).sort(),
      [
        'NOTES.md',
        'SHA256SUMS',
        BILL,
        `agent-gateway-cli-${version}.cdx.json`,
        `agent-gateway-client-${version}.cdx.json`,
        'image.json',
        ...[archive, ...Object.values(names)].flatMap((name) => [name, `${name}.intoto.jsonl`]),
      ].sort(),
    );
    run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: out });
  });

  // The bundle's comments named a random folder, and the archives of image and chart held the time at which they were packed.
  const sameAgain = 'the same commit gives the same bytes again';
  const checkAgain = (): void => {
    const again = join(folder, 'again');
    releaseTo(again);
    const differing = readdirSync(out).filter(
      (name) => sha256(join(out, name)) !== sha256(join(again, name)),
    );
    assert.deepEqual(differing, []);
    rmSync(again, { recursive: true });
  };
  if (!isOnce) await checks.check(sameAgain, checkAgain);

  await checks.check('the packed client and command line run from an empty folder', async () => {
    const client = `node -e 'import("@agent-gateway/client").then(({ AgentGateway }) => console.log(typeof AgentGateway))'`;
    assert.equal(installed('client', names.client, client), 'function\n');
    assert.equal(
      installed('cli', names.cli, 'npx -p @agent-gateway/cli agent-gateway --version'),
      `${version}\n`,
    );
  });

  await checks.check('the chart asks for the image that was made', async () => {
    const { digest } = readOut<{ digest: string }>('image.json');
    const shown = run('helm', ['show', 'chart', join(out, names.chart)]);
    assert.match(shown, new RegExp(`^  agent-gateway/image-digest: ${digest}$`, 'm'));
    assert.match(shown, new RegExp(`^appVersion: '?${version}'?$`, 'm'));
  });

  await checks.check('the SBOM of the image names what it holds, and no workspace', async () => {
    const bill = readOut<{ bomFormat: string; components: Component[] }>(BILL);
    const components = bill.components.map(({ name }) => name);
    assert.equal(bill.bomFormat, 'CycloneDX');
    for (const name of ['@nestjs/core', 'undici', 'pino'])
      assert.ok(components.includes(name), name);
    for (const name of ['commander', '@electric-sql/client', 'jest']) {
      assert.ok(!components.includes(name), name);
    }
  });

  // A scan of it found nothing in OpenSSL, which was not there.
  await checks.check('it names Node, OpenSSL and glibc, with their licences', () => {
    const { components } = readOut<{ components: Component[] }>(BILL);
    const find = (name: string): Component => {
      const found = components.find((component) => component.name === name);
      assert.ok(found, name);
      return found;
    };
    const { node, openssl, v8 } = process.versions;
    assert.deepEqual(
      [find('node').version, find('openssl').version, find('v8').version],
      [node, openssl, v8],
    );
    assert.deepEqual(find('openssl').licenses, [{ expression: 'Apache-2.0' }]);
    assert.match(
      find('libc6').purl,
      /^pkg:deb\/debian\/libc6@2\.\S+&distro=debian-12&upstream=glibc$/,
    );
    assert.deepEqual(find('libc6').licenses, [{ expression: 'LGPL-2.1-or-later' }]);
    for (const name of ['libstdc++6', 'libgcc-s1']) {
      assert.match(JSON.stringify(find(name).licenses), /GCC-exception/);
    }
    const ofImage = components.filter(({ purl }) => /^pkg:(?:generic|deb)\//.test(purl));
    for (const { name, licenses } of ofImage) assert.ok(licenses?.length, name);
  });

  await checks.check('the provenance of each artifact names its bytes and the commit', () => {
    const revision = run('git', ['rev-parse', 'HEAD'], { cwd: clone }).trim();
    for (const name of [archive, ...Object.values(names)]) {
      const statement = readOut<{
        _type: string;
        predicateType: string;
        subject: object[];
        predicate: { buildDefinition: { resolvedDependencies: object[] } };
      }>(`${name}.intoto.jsonl`);
      assert.equal(statement._type, 'https://in-toto.io/Statement/v1');
      assert.equal(statement.predicateType, 'https://slsa.dev/provenance/v1');
      assert.deepEqual(statement.subject, [{ name, digest: { sha256: sha256(join(out, name)) } }]);
      assert.deepEqual(statement.predicate.buildDefinition.resolvedDependencies[0], {
        uri: `git+${readMetadata(ROOT).repository}`,
        digest: { gitCommit: revision },
      });
    }
  });

  // An upgrade pulled Node and all packages again.
  const nextVersion = 'the next version of the image has the same layers but for the last';
  const checkNext = (): void => {
    const next = join(folder, 'next');
    mkdirSync(next);
    setVersion(clone, '99.0.0');
    process.env.BUILDAH = BUILDAH;
    try {
      const request = { version: '99.0.0', revision: 'next', timestamp: '1' };
      const { file } = buildImage({ root: clone, out: next, ...request });
      const [one] = readArchive(join(out, archive));
      const [other] = readArchive(join(next, file));
      assert.equal(one?.layers.length, 3);
      assert.deepEqual(other?.layers.slice(0, 2), one.layers.slice(0, 2));
      assert.notEqual(other?.layers[2], one.layers[2]);
    } finally {
      run('git', ['checkout', '--quiet', '--', '.'], { cwd: clone });
    }
  };
  if (!isOnce) await checks.check(nextVersion, checkNext);

  await checks.check(
    'the registry has every package of the lock file, for every platform',
    async () => {
      assert.deepEqual(await missingPackages(ROOT), []);
    },
  );

  await checks.check('the image runs from its archive', async () => {
    const container = run('bash', [
      '-c',
      `${BUILDAH} from --pull-never oci-archive:${join(out, archive)}`,
    ]).trim();
    try {
      const root = run('bash', ['-c', `${BUILDAH} mount ${container}`]).trim();
      const answer = run('chroot', [root, 'node', '-p', 'require("/app/package.json").version'], {
        cwd: ROOT,
        env: { PATH: '/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin' },
      });
      assert.equal(answer, `${version}\n`);
    } finally {
      run('bash', ['-c', `${BUILDAH} rm ${container}`]);
    }
  });

  await checks.check('a tree with changes, and a push to nowhere, are refused', async () => {
    writeFileSync(join(clone, 'new-file'), '');
    assert.throws(() => releaseTo(join(folder, 'dirty')), /The tree is not clean:\n\?\? new-file/);
    rmSync(join(clone, 'new-file'));
    assert.throws(() => release(), /Give either --dry-run/);
  });

  await checks.check('a push is refused while the metadata are placeholders', () => {
    assert.throws(
      () => release('--chart', 'oci://127.0.0.1:2/charts'),
      /metadata\.json has placeholders \(.*the license is the owner's to choose/,
    );
  });

  await checks.check('the checksums are signed where COSIGN_KEY names a key', () => {
    const tools = join(folder, 'tools');
    mkdirSync(tools);
    // No key and no log of signatures here: this only shows what cosign is asked for.
    writeFileSync(join(tools, 'cosign'), '#!/bin/sh\necho "$@" >"$6"\n', { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = [tools, path].join(delimiter);
    try {
      assert.equal(sign(out, 'the.key'), 'SHA256SUMS is signed.');
      assert.equal(
        readFileSync(join(out, 'SHA256SUMS.sigstore.json'), 'utf8'),
        `sign-blob --yes --key the.key --bundle ${out}/SHA256SUMS.sigstore.json ${out}/SHA256SUMS\n`,
      );
    } finally {
      process.env.PATH = path;
    }
  });
} finally {
  rmSync(folder, { recursive: true });
}
checks.finish();
