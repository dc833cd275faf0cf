import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { forThisTest } from '../support/for-this-test.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { newFolder } from '../support/new-folder.ts';
import { logOf, scriptedUpstream } from '../support/scripted-gateway.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { until } from '../support/until.ts';

const KEYS = ['first-key-0123456789', 'second-key-0123456789', 'third-key-0123456789'] as const;
const SECRETS = [
  'first-secret-0123456789abcdef0123456789',
  'second-secret-0123456789abcdef0123456789',
] as const;
const CLIENTS = 8;

interface Files {
  keys: string;
  secrets: string;
}

/**
 * A secret mount as Kubernetes makes it: what is named in the settings is a symlink through `..data`,
 * and a rotation swaps that.
 */
describe('secrets that rotate under load', () => {
  let folder: string;
  let generation: number;
  const upstream = scriptedUpstream((_request, response) => response.end());
  let gateway: TestGateway;

  beforeEach(async () => {
    folder = forThisTest(await newFolder()).path;
    generation = 0;
    await mount({ keys: KEYS[0], secrets: SECRETS[0] });
    for (const name of ['keys', 'secrets']) {
      await symlink(join('..data', name), join(folder, name));
    }
    gateway = forThisTest(
      await startTestGateway({
        GATEWAY_API_KEYS: '',
        GATEWAY_API_KEYS_FILE: join(folder, 'keys'),
        GATEWAY_READ_TOKEN_SECRETS: '',
        GATEWAY_READ_TOKEN_SECRETS_FILE: join(folder, 'secrets'),
        GATEWAY_HISTORY_URL: upstream.url,
      }),
    );
  });

  it.each<
    [
      string,
      string,
      readonly [string, string],
      (of: string) => Promise<string>,
      (keys: string) => Files,
    ]
  >([
    [
      'a client that changes its API key',
      'GATEWAY_API_KEYS_FILE',
      [KEYS[0], KEYS[1]],
      async (key) => key,
      (keys) => ({ keys, secrets: SECRETS[0] }),
    ],
    [
      'a reader whose tokens change their secret',
      'GATEWAY_READ_TOKEN_SECRETS_FILE',
      SECRETS,
      token,
      (secrets) => ({ keys: KEYS[0], secrets }),
    ],
  ])('refuse not one request of %s', async (_, setting, [before, after], credential, files) => {
    const load = startLoad(() => credential(before));
    await rotate(setting, files(`${after}\n${before}`));
    load.use(() => credential(after));
    await load.turn();
    await rotate(setting, files(after));
    await load.turn();
    expect(await load.stop()).toEqual(new Set([200]));
    expect(await status(await credential(before))).toBe(401);
    expect(await status(await credential(after))).toBe(200);
  });

  // Each rotation had up to 690 ms of 401, until the file was read again.
  it('refuse not one request of clients that take the new ones at once, twelve times', async () => {
    const keyLoad = startLoad(async () => KEYS[0]);
    const tokenLoad = startLoad(() => token(SECRETS[0]));
    for (let turn = 1; turn <= 12; turn++) {
      const [key, secret] = [`${KEYS[0]}-${turn}`, `${SECRETS[0]}-${turn}`];
      const [keyBefore, secretBefore] =
        turn === 1
          ? [KEYS[0], SECRETS[0]]
          : [`${KEYS[0]}-${turn - 1}`, `${SECRETS[0]}-${turn - 1}`];
      // The old ones stay for the requests under way.
      await mount({ keys: `${key}\n${keyBefore}`, secrets: `${secret}\n${secretBefore}` });
      keyLoad.use(async () => key);
      tokenLoad.use(() => token(secret));
      await Promise.all([keyLoad.turn(), tokenLoad.turn()]);
    }
    expect(await keyLoad.stop()).toEqual(new Set([200]));
    expect(await tokenLoad.stop()).toEqual(new Set([200]));
  });

  it.each([
    ['bad', 'short', 'line 1 must have at least 16 characters'],
    ['empty', '\n', 'must hold at least one entry'],
  ])(
    'stay as they were where the new file is %s, and the log says so without them',
    async (...[, keys, problem]) => {
      const load = startLoad(async () => KEYS[0]);
      await mount({ keys, secrets: SECRETS[0] });
      await logged((line) => line['level'] === 'error');
      await load.turn();
      expect(logOf(gateway).find(({ level }) => level === 'error')).toMatchObject({
        setting: 'GATEWAY_API_KEYS_FILE',
        message: expect.stringContaining(problem),
      });
      expect(await load.stop()).toEqual(new Set([200]));

      await rotate('GATEWAY_API_KEYS_FILE', { keys: KEYS[2], secrets: SECRETS[0] });
      expect(await status(KEYS[2])).toBe(200);
      expect(await status(KEYS[0])).toBe(401);
      expect(gateway.logLines.join('\n')).not.toMatch(/-key-0123456789|-secret-0123456789/);
    },
  );

  async function mount(files: Files): Promise<void> {
    const data = `..generation-${++generation}`;
    await mkdir(join(folder, data));
    await writeFile(join(folder, data, 'keys'), files.keys);
    await writeFile(join(folder, data, 'secrets'), files.secrets);
    await symlink(data, join(folder, '..data-next'));
    await rename(join(folder, '..data-next'), join(folder, '..data'));
  }

  /** Mounts and waits until the gateway has taken it. */
  async function rotate(setting: string, files: Files): Promise<void> {
    const before = gateway.logLines.length;
    await mount(files);
    await logged(
      (line) => line['message'] === 'secrets reloaded' && line['setting'] === setting,
      before,
    );
  }

  async function logged(
    matches: (line: Record<string, unknown>) => boolean,
    from = 0,
  ): Promise<void> {
    await until('the rotation is in the log', () => logOf(gateway).slice(from).some(matches));
  }

  function startLoad(credential: () => Promise<string>) {
    let current = credential;
    let isOver = false;
    let turns = 0;
    const statuses = new Set<number>();
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) {
        statuses.add(await status(await current()));
        turns++;
      }
    });
    return {
      use: (next: () => Promise<string>) => void (current = next),
      /** Until every client has asked a few times more. */
      turn: async () => {
        for (const last = turns + 10 * CLIENTS; turns < last;) await sleep(5);
      },
      stop: async () => {
        isOver = true;
        await Promise.all(clients);
        return statuses;
      },
    };
  }

  async function status(credential: string): Promise<number> {
    const response = await fetch(`${gateway.url}/streams/a`, {
      headers: { authorization: `Bearer ${credential}` },
    });
    await response.arrayBuffer();
    return response.status;
  }

  function token(secret: string): Promise<string> {
    return mintReadToken(secret, { prefix: '/streams/', ttlSeconds: 3_600 });
  }
});
