import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHistory, type RunningHistory } from '../../local/stack/history.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { startProcess } from '../../local/stack/process.ts';
import type { Checks } from '../support/checks.ts';
import { AUTHORIZED } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { until } from '../support/until.ts';
import { withoutUser } from './front.ts';
import { runTool } from './tools.ts';

const CONFIGURATION = join(import.meta.dirname, '../../deploy/haproxy/stores.cfg');
const JSON_TYPE = { 'content-type': 'application/json' };
const ENTITIES = Array.from({ length: 40 }, (_, index) => `/t/default/agents/chat/e${index}`);

/** Several history stores behind a hash, as deploy/haproxy/stores.cfg has them. */
export async function checkStores(checks: Checks): Promise<void> {
  checks.section('Stores behind a hash');
  const folder = await mkdtemp(join(tmpdir(), 'gateway-stores-'));
  const ports = await choosePorts({ front: 0, one: 0, two: 0, three: 0, four: 0 });
  const { front, ...storePorts } = ports;
  const stores: RunningHistory[] = [];
  const start = async (index: number): Promise<void> => {
    const port = Object.values(storePorts)[index]!;
    const dataDir = join(folder, `store-${index}`);
    stores[index] = await startHistory({ port, dataDir, host: '127.0.0.1' });
  };
  for (const index of [0, 1, 2, 3]) await start(index);
  const file = join(folder, 'stores.cfg');
  await writeFile(file, await configuration(front, Object.values(storePorts)));
  const haproxy = startProcess({
    name: 'haproxy',
    command: 'haproxy',
    args: ['-db', '-f', file],
    env: { PATH: process.env.PATH },
  });
  const gateway = await startGatewayChild({
    env: { GATEWAY_HISTORY_URL: `http://127.0.0.1:${front}/v1/stream` },
  });
  try {
    await check(checks, { gateway, stores, file, start });
  } finally {
    await gateway.stop();
    await haproxy.stop();
    await Promise.all(stores.map((store) => store.stop()));
    await rm(folder, { recursive: true });
  }
}

interface World {
  gateway: GatewayChild;
  stores: RunningHistory[];
  file: string;
  start: (index: number) => Promise<void>;
}

async function check(checks: Checks, { gateway, stores, file, start }: World): Promise<void> {
  const ask = (method: string, path: string, headers = {}, body?: string): Promise<Response> =>
    fetch(`${gateway.url}/streams${path}`, {
      method,
      headers: { ...AUTHORIZED, ...headers },
      body,
    });
  const put = (path: string, headers = {}): Promise<Response> =>
    ask('PUT', path, { ...JSON_TYPE, ...headers });
  const append = (path: string, event: object): Promise<Response> =>
    ask('POST', path, JSON_TYPE, JSON.stringify(event));
  const read = (path: string): Promise<Response> => ask('GET', `${path}?offset=-1`);
  /** In which stores a stream is. */
  const placesOf = async (path: string): Promise<number[]> => {
    const found = await Promise.all(
      stores.map(async ({ url }) => (await fetch(url + path, { method: 'HEAD' })).ok),
    );
    return found.flatMap((isThere, index) => (isThere ? [index] : []));
  };
  const places = new Map<string, number>();

  await checks.check('find no fault in the configuration', () => {
    assert.equal(runTool('haproxy', ['-c', '-f', file]).code, 0);
  });
  await checks.check('give each entity one store, and use all of them', async () => {
    await until('HAProxy answers', async () => (await read('/none')).status === 404);
    for (const entity of ENTITIES) {
      assert.equal((await put(`${entity}/timeline`)).status, 201);
      for (const seq of [0, 1]) {
        assert.equal((await append(`${entity}/timeline`, { seq })).status, 204);
      }
      const found = await placesOf(`${entity}/timeline`);
      assert.equal(found.length, 1, `${entity} is in ${found.length} stores`);
      places.set(entity, found[0]!);
      assert.deepEqual(await (await read(`${entity}/timeline`)).json(), [{ seq: 0 }, { seq: 1 }]);
    }
    assert.deepEqual(new Set(places.values()), new Set([0, 1, 2, 3]));
  });
  await checks.check('have the forks of an entity beside its timeline', async () => {
    for (const entity of ENTITIES.slice(0, 10)) {
      const from = { 'stream-forked-from': `/streams${entity}/timeline` };
      assert.equal((await put(`${entity}/forks/one`, from)).status, 201);
      assert.deepEqual(await (await read(`${entity}/forks/one`)).json(), [{ seq: 0 }, { seq: 1 }]);
      assert.deepEqual(await placesOf(`${entity}/forks/one`), [places.get(entity)]);
    }
  });
  await checks.check('send nothing of a store that is away to another one', async () => {
    await stores[1]!.stop();
    const askAll = [...places].map(async ([entity, place]) => {
      const isAway = place === 1;
      assert.equal((await read(`${entity}/timeline`)).status, isAway ? 503 : 200, entity);
      const appended = await append(`${entity}/timeline`, { seq: 2 });
      assert.equal(appended.status, isAway ? 503 : 204, entity);
      assert.equal((await put(`${entity}/timeline`)).status, isAway ? 503 : 200, entity);
    });
    await Promise.all(askAll);
    await start(1);
    for (const [entity, place] of places) {
      const events = [{ seq: 0 }, { seq: 1 }, ...(place === 1 ? [] : [{ seq: 2 }])];
      assert.deepEqual(await (await read(`${entity}/timeline`)).json(), events);
    }
  });
  await checks.check('forget an entity where it is', async () => {
    for (const entity of ENTITIES.slice(20)) {
      assert.equal((await ask('DELETE', `${entity}/timeline`)).status, 204);
      assert.equal((await read(`${entity}/timeline`)).status, 404);
      assert.deepEqual(await placesOf(`${entity}/timeline`), []);
    }
  });
  await checks.check('never ask a store how it is', async () => {
    const text = await readFile(CONFIGURATION, 'utf8');
    const rules = text.replaceAll(/^\s*#.*$/gm, '');
    assert.doesNotMatch(rules, /\bcheck\b|redispatch|backup/);
  });
}

/** The project's configuration, at other ports. */
async function configuration(front: number, stores: number[]): Promise<string> {
  const text = withoutUser(await readFile(CONFIGURATION, 'utf8'));
  const moved = text.replaceAll('127.0.0.1:4437', `127.0.0.1:${front}`);
  return stores.reduce(
    (all, port, index) => all.replace(`192.0.2.${21 + index}:4437`, `127.0.0.1:${port}`),
    moved,
  );
}
