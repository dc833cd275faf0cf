/**
 * Makes a release as `npm run release -- --dry-run` does, twice, and installs what came out: `npm run test:release`. Needs root and
 * what the release needs; without a container registry the base of the image is made as `test:image` makes it.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { run } from '../../tools/release/commands.ts';
import { missingPackages } from '../../tools/release/lock-file.ts';
import { projectVersion } from '../../tools/release/versions.ts';
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
const names = {
  client: `agent-gateway-client-${version}.tgz`,
  react: `agent-gateway-react-${version}.tgz`,
  cli: `agent-gateway-cli-${version}.tgz`,
  chart: `agent-gateway-${version}.tgz`,
};

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function release(to: string): string {
  return run('npm', ['run', '--silent', 'release', '--', '--dry-run', '--out', to], {
    cwd: clone,
    env,
  });
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

  await checks.check('a dry run makes everything, and says that nothing was pushed', async () => {
    assert.match(release(out), new RegExp(`^${version} is in \\S+; nothing was pushed\\.$`, 'm'));
    const image = `agent-gateway-${version}.oci.tar`;
    assert.deepEqual(
      readdirSync(out).sort(),
      [
        'NOTES.md',
        'SHA256SUMS',
        `agent-gateway-${version}.cdx.json`,
        image,
        names.chart,
        `agent-gateway-cli-${version}.cdx.json`,
        names.cli,
        `agent-gateway-client-${version}.cdx.json`,
        names.client,
        names.react,
        'image.json',
      ].sort(),
    );
    run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: out });
  });

  await checks.check('the same commit gives the same bytes again', async () => {
    const again = join(folder, 'again');
    release(again);
    const differing = readdirSync(out).filter(
      (name) => sha256(join(out, name)) !== sha256(join(again, name)),
    );
    // The archives of image and chart hold the time at which they were written; the digest of the image is the same.
    assert.deepEqual(
      differing.filter((name) => !/\.oci\.tar$|SHA256SUMS/.test(name) && name !== names.chart),
      [],
    );
    assert.equal(
      readFileSync(join(again, 'image.json'), 'utf8'),
      readFileSync(join(out, 'image.json'), 'utf8'),
    );
    rmSync(again, { recursive: true });
  });

  await checks.check('the packed client and command line run from an empty folder', async () => {
    const client = `node -e 'import("@agent-gateway/client").then(({ AgentGateway }) => console.log(typeof AgentGateway))'`;
    assert.equal(installed('client', names.client, client), 'function\n');
    assert.equal(
      installed('cli', names.cli, 'npx -p @agent-gateway/cli agent-gateway --version'),
      `${version}\n`,
    );
  });

  await checks.check('the chart asks for the image that was made', async () => {
    const { digest } = JSON.parse(readFileSync(join(out, 'image.json'), 'utf8')) as {
      digest: string;
    };
    const shown = run('helm', ['show', 'chart', join(out, names.chart)]);
    assert.match(shown, new RegExp(`^  agent-gateway/image-digest: ${digest}$`, 'm'));
    assert.match(shown, new RegExp(`^appVersion: '?${version}'?$`, 'm'));
  });

  await checks.check('the SBOM of the image names what it holds, and no workspace', async () => {
    const bill = JSON.parse(
      readFileSync(join(out, `agent-gateway-${version}.cdx.json`), 'utf8'),
    ) as {
      bomFormat: string;
      components: { name: string }[];
    };
    const components = bill.components.map(({ name }) => name);
    assert.equal(bill.bomFormat, 'CycloneDX');
    for (const name of ['@nestjs/core', 'undici', 'pino'])
      assert.ok(components.includes(name), name);
    for (const name of ['commander', '@electric-sql/client', 'jest']) {
      assert.ok(!components.includes(name), name);
    }
  });

  await checks.check(
    'the registry has every package of the lock file, for every platform',
    async () => {
      assert.deepEqual(await missingPackages(ROOT), []);
    },
  );

  await checks.check('the image runs from its archive', async () => {
    const archive = `agent-gateway-${version}.oci.tar`;
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
    assert.throws(() => release(join(folder, 'dirty')), /The tree is not clean:\n\?\? new-file/);
    rmSync(join(clone, 'new-file'));
    const nowhere = ['run', '--silent', 'release'];
    assert.throws(() => run('npm', nowhere, { cwd: clone, env }), /Give either --dry-run/);
  });
} finally {
  rmSync(folder, { recursive: true });
}
checks.finish();
