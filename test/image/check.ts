/**
 * Checks a built image: `node test/image/check.ts ROOT CONFIG REVISION`, its root filesystem as a folder,
 * what `buildah inspect` says of it as a file, and the revision of its label. `run.sh` calls it.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import { report } from '../helm/report.ts';
import { Checks } from '../support/checks.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { Container, type ImageConfig } from './container.ts';
import { imageSize } from './image-size.ts';

const MEBIBYTE = 1_048_576;
const MAX_IMAGE_BYTES = 138 * MEBIBYTE;
const DRAIN_TIMEOUT_MS = 20_000;
const API_KEY = 'image-test-key-0123456789';

const [root, configFile, revision] = process.argv.slice(2);
if (!root || !configFile || !revision) throw new Error('usage: check.ts ROOT CONFIG REVISION');
const {
  config,
  rootfs: { diff_ids: layers },
} = (
  JSON.parse(readFileSync(configFile, 'utf8')) as {
    Docker: { config: ImageConfig; rootfs: { diff_ids: string[] } };
  }
).Docker;
const project = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};
const inImage = (path: string): string => join(root, path);
const checks = new Checks();

await checks.check('says how it is run: by number, by exec, with labels and a health check', () => {
  assert.equal(config.User, '10001:10001');
  assert.equal(config.WorkingDir, '/app');
  assert.deepEqual(config.Cmd, ['node', '--disable-sigusr1', 'dist/main.js']);
  assert.ok(!config.Entrypoint?.length);
  assert.ok(config.Env.includes('NODE_ENV=production'));
  assert.deepEqual(Object.keys(config.ExposedPorts).sort(), ['8787/tcp', '8788/tcp']);
  assert.equal(config.Labels['org.opencontainers.image.title'], 'agent-gateway');
  assert.equal(config.Labels['org.opencontainers.image.version'], project.version);
  assert.equal(config.Labels['org.opencontainers.image.revision'], revision);
  assert.deepEqual(config.Healthcheck.Test.slice(0, 3), ['CMD', 'node', '--eval']);
});

await checks.check('holds the built gateway and its dependencies, and nothing else', () => {
  assert.deepEqual(readdirSync(inImage('app')).sort(), ['dist', 'node_modules', 'package.json']);
  for (const name of Object.keys(project.dependencies)) {
    assert.ok(existsSync(inImage(`app/node_modules/${name}`)), `${name} is missing`);
  }
  // Some of these are dependencies of dependencies as well.
  const wanted = new Set(Object.keys(installedForProduction()));
  const dev = Object.keys(project.devDependencies);
  const unwanted = dev.filter((name) => !wanted.has(`node_modules/${name}`));
  const ofClients = ['packages/client', 'packages/cli'].flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
      name: string;
      dependencies?: Record<string, string>;
    };
    return [manifest.name, ...Object.keys(manifest.dependencies ?? {})];
  });
  for (const name of [...unwanted, ...ofClients.filter((one) => !(one in project.dependencies))]) {
    assert.ok(!existsSync(inImage(`app/node_modules/${name}`)), `${name} is in the image`);
  }
  const files = readdirSync(inImage('app/dist'), { recursive: true }) as string[];
  assert.deepEqual(
    files.filter((file) => /\.(spec\.js|ts|map)$|^(packages|local|bench|tools)\b/.test(file)),
    [],
  );
});

await checks.check('has of its packages what scanners and licences ask for, and no code', () => {
  const modules = inImage('app/node_modules');
  const files = readdirSync(modules, { recursive: true, withFileTypes: true });
  const notAsked = files.filter(
    (file) => file.isFile() && !/^(?:package\.json|licen[cs]e.*|notice.*)$/i.test(file.name),
  );
  assert.deepEqual(notAsked, []);
  assert.ok(existsSync(join(modules, 'rxjs/package.json')));
  assert.ok(existsSync(join(modules, '@nestjs/core/LICENSE')));
});

await checks.check('has a layer for Node and a small one for itself', () => {
  const bytes = gatewayBytes();
  assert.equal(layers.length, 2);
  assert.ok(bytes < 6 * MEBIBYTE, `${bytes} bytes`);
});

await checks.check('has no CA store but the one that Node brings along', () => {
  assert.ok(!existsSync(inImage('etc/ssl')));
  assert.ok(!existsSync(inImage('usr/share/ca-certificates')));
});

await checks.check('has no shell and no package manager', () => {
  for (const path of ['bin/sh', 'usr/bin/sh', 'usr/bin/env', 'usr/local/bin/npm', 'usr/bin/apt']) {
    assert.ok(!existsSync(inImage(path)), `${path} is in the image`);
  }
});

await checks.check('is small', async () => {
  const { bytes, compressedBytes, parts } = await imageSize(root);
  const mebibytes = (count: number): string => `${(count / MEBIBYTE).toFixed(1)} MiB`;
  report(`        ${mebibytes(bytes)} unpacked, ${mebibytes(compressedBytes)} compressed:`);
  for (const [part, size] of Object.entries(parts)) report(`        ${mebibytes(size)} ${part}`);
  assert.ok(bytes < MAX_IMAGE_BYTES, `${bytes} bytes are more than ${MAX_IMAGE_BYTES}`);
});

await checks.check('refuses to start on bad settings, and names every one', async () => {
  const settings = {
    GATEWAY_PORT: 'eighty',
    GATEWAY_SYNC_URL: 'electric',
    GATEWAY_API_KEYS: 'short',
  };
  const { code, output } = await new Container(root, config, settings).exited;
  assert.equal(code, 1);
  for (const name of Object.keys(settings)) assert.match(output, new RegExp(`- ${name} .*must`));
  assert.match(output, /3 settings are wrong/);
});

await checks.check('refuses to start without an API key', async () => {
  const { code, output } = await new Container(root, config, {}).exited;
  assert.equal(code, 1);
  assert.match(output, /GATEWAY_API_KEYS is required/);
});

/** The read that waits at the store until the test answers it. */
const waiting = Promise.withResolvers<ServerResponse>();
const store = await startScriptedUpstream((_, response) => waiting.resolve(response));
const { port, managementPort } = await choosePorts({ port: 0, managementPort: 0 });
const gateway = new Container(root, config, {
  GATEWAY_HOST: '127.0.0.1',
  GATEWAY_PORT: `${port}`,
  GATEWAY_MANAGEMENT_PORT: `${managementPort}`,
  GATEWAY_API_KEYS: API_KEY,
  GATEWAY_HISTORY_URL: `${store.url}/v1/stream`,
  GATEWAY_DRAIN_TIMEOUT_MS: `${DRAIN_TIMEOUT_MS}`,
});
const healthUrl = `http://127.0.0.1:${port}/health`;
const readyUrl = `http://127.0.0.1:${managementPort}/health/ready`;

try {
  await gateway.line('the gateway listens');

  await checks.check('answers /health', async () => {
    const answer = await fetch(healthUrl);
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), { status: 'ok', info: {}, error: {}, details: {} });
    assert.equal((await fetch(readyUrl)).status, 200);
  });

  await checks.check('loads every module of the gateway, and trusts what Node trusts', async () => {
    const script = `
      const { readdirSync } = await import('node:fs');
      const { rootCertificates } = await import('node:tls');
      if (rootCertificates.length < 100) process.exit(2);
      // This one starts a gateway.
      const isModule = (path) => path.endsWith('.js') && path !== 'main.js';
      for (const path of readdirSync('dist', { recursive: true }).filter(isModule)) {
        await import('/app/dist/' + path);
      }
      process.exit(0);`;
    assert.equal(await gateway.run(['node', '--input-type=module', '--eval', script]), 0);
  });

  await checks.check('runs as PID 1 of its numeric user, without any capability', () => {
    const status = gateway.status();
    assert.equal(status.get('NSpid')?.split(/\s+/).at(-1), '1');
    assert.deepEqual(new Set(status.get('Uid')?.split(/\s+/)), new Set(['10001']));
    assert.deepEqual(new Set(status.get('Gid')?.split(/\s+/)), new Set(['10001']));
    assert.equal(status.get('Groups'), '');
    assert.match(status.get('CapEff') ?? '', /^0+$/);
    assert.equal(status.get('NoNewPrivs'), '1');
  });

  await checks.check('its root filesystem is read-only', () => {
    for (const folder of ['app', 'tmp', 'etc']) {
      const file = `/proc/${gateway.pid}/root/${folder}/written`;
      assert.throws(() => writeFileSync(file, ''), { code: 'EROFS' });
    }
  });

  await checks.check('passes its own health check, which asks where it listens', async () => {
    const command = config.Healthcheck.Test.slice(1);
    const askedAt = (host: string, asked: string): Promise<number | null> =>
      gateway.run(command, { GATEWAY_HOST: host, GATEWAY_PORT: asked });
    assert.equal(await gateway.run(command), 0);
    for (const host of ['', '0.0.0.0']) {
      assert.equal(await askedAt(host, `${port}`), 0, host);
    }
    // Nothing listens there.
    assert.equal(await askedAt('127.0.0.2', `${port}`), 1);
    assert.equal(await askedAt('127.0.0.1', `${managementPort}`), 1);
    // Any free port: nobody knows which.
    assert.equal(await askedAt('127.0.0.1', '0'), 0);
  });

  await checks.check('opens no debugger on SIGUSR1', async () => {
    gateway.signal('SIGUSR1');
    assert.equal((await fetch(healthUrl)).status, 200);
  });

  await checks.check(
    'drains on SIGTERM: a read under way gets its answer, then exit 0',
    async () => {
      const answer = fetch(`http://127.0.0.1:${port}/streams/timeline`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      });
      const upstream = await waiting.promise;
      gateway.signal('SIGTERM');
      await gateway.line('the gateway drains');
      assert.equal((await fetch(readyUrl)).status, 503);
      const duringLameDuck = await fetch(healthUrl);
      assert.equal(duringLameDuck.status, 200);
      assert.equal(duringLameDuck.headers.get('connection'), 'close');
      const signalledAtMs = performance.now();
      upstream.end('answered');
      assert.equal((await answer).status, 200);
      assert.equal(await (await answer).text(), 'answered');
      const { code, output } = await gateway.exited;
      assert.equal(code, 0, output);
      assert.match(output, /the gateway has stopped/);
      assert.doesNotMatch(output, /Debugger/);
      // With nothing left it ends behind the lame-duck phase, a fifth of the time.
      assert.ok(performance.now() - signalledAtMs < DRAIN_TIMEOUT_MS * 0.8);
    },
  );
} finally {
  await gateway.stop();
  await store.stop();
}
checks.finish();

/** What an upgrade pulls, before it is compressed. */
function gatewayBytes(): number {
  const files = readdirSync(inImage('app/dist'), { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

function installedForProduction(): Record<string, unknown> {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.fromEntries(Object.entries(lock.packages).filter(([, entry]) => !entry.dev));
}
