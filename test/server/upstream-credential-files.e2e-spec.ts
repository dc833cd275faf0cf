import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { forThisTest } from '../support/for-this-test.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { newFolder } from '../support/new-folder.ts';
import { everyUpstream } from '../support/nobody.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';

/** The file of each credential, and a request that it is sent with. */
const CREDENTIALS = [
  ['GATEWAY_RUNTIME_INGRESS_TOKEN_FILE', 'POST', '/api/a/chat/a1/send', 'hello'],
  ['GATEWAY_RUNTIME_ADMIN_TOKEN_FILE', 'GET', '/registry/deployments', undefined],
  ['GATEWAY_HISTORY_TOKEN_FILE', 'GET', '/streams/x?offset=-1', undefined],
  ['GATEWAY_HISTORY_TOKEN_FILE', 'POST', '/streams/x', 'event'],
  ['GATEWAY_SYNC_SECRET_FILE', 'GET', '/shapes/v1/shape?table=entities&offset=-1', undefined],
] as const;
const FILES = [...new Set(CREDENTIALS.map(([setting]) => setting))];

/** An upstream that asks for a credential and refuses the one that was withdrawn. */
describe('the credentials of the upstreams, from files', () => {
  let folder: string;
  let accepted: (setting: string) => string;
  const upstream = scriptedUpstream(({ url = '', headers }, response) => {
    const sent = sentIn(url) ?? headers.authorization?.replace('Bearer ', '');
    const isOpen = FILES.some((setting) => accepted(setting) === sent);
    response.writeHead(isOpen ? 202 : 401).end('{"invocationId":"inv_1"}');
  });
  let gateway: TestGateway;
  const sentIn = (target: string): string | null =>
    new URL(target, 'http://upstream').searchParams.get('secret');

  /** As a Kubernetes mount does it: the new file takes the place of the old one. */
  async function write(generation: string): Promise<void> {
    for (const setting of FILES) {
      await writeFile(join(folder, 'next'), generation && `${setting}-${generation}\n`);
      await rename(join(folder, 'next'), join(folder, setting));
    }
  }

  beforeEach(async () => {
    folder = forThisTest(await newFolder()).path;
    await write('old');
    accepted = (setting) => `${setting}-old`;
    gateway = forThisTest(
      await startTestGateway({
        ...everyUpstream(upstream.url),
        ...Object.fromEntries(FILES.map((setting) => [setting, join(folder, setting)])),
      }),
    );
  });

  /** Sends a request to each upstream; gives what each was opened with, and the answers. */
  async function useAll(): Promise<[sent: unknown[], answers: number[]]> {
    upstream.seen.length = 0;
    const answers: number[] = [];
    for (const [, method, path, body] of CREDENTIALS) {
      const answer = await fetch(gateway.url + path, { method, body, headers: AUTHORIZED });
      await answer.arrayBuffer();
      answers.push(answer.status);
    }
    const sent = upstream.seen.map(
      ({ target, headers }) => sentIn(target) ?? headers.authorization,
    );
    return [sent, answers];
  }
  const sentWith = (generation: string): string[] =>
    CREDENTIALS.map(([setting]) =>
      setting === 'GATEWAY_SYNC_SECRET_FILE'
        ? `${setting}-${generation}`
        : `Bearer ${setting}-${generation}`,
    );
  /** Resolves once the gateway has logged a message about each of the files. */
  async function logged(words: string): Promise<void> {
    const told = () =>
      FILES.filter((setting) =>
        gateway.logLines.some((line) => line.includes(setting) && line.includes(words)),
      );
    await until(`the log says "${words}" of each file`, () => told().length >= FILES.length);
  }

  it('are sent, and after a rotation the new ones, without a restart', async () => {
    expect(await useAll()).toEqual([sentWith('old'), [202, 202, 202, 202, 202]]);

    accepted = (setting) => `${setting}-new`;
    await write('new');
    // The log alone does not tell: it says the same of a file that a busy machine read late, with the old text.
    const all = [sentWith('new'), [202, 202, 202, 202, 202]];
    let used: unknown;
    await until(
      () => `all are sent anew, not ${JSON.stringify(used)}`,
      async () => isDeepStrictEqual((used = await useAll()), all),
    );
    await logged('secrets reloaded');
  });

  it('are kept where a file turns bad', async () => {
    await write('');
    await logged('the list in use is kept');
    expect(await useAll()).toEqual([sentWith('old'), [202, 202, 202, 202, 202]]);
    expect(gateway.logLines.join()).not.toContain('-old');
  });

  it('are named by their setting where an upstream refuses them', async () => {
    accepted = () => 'another';
    expect((await useAll())[1]).toEqual([502, 502, 502, 502, 502]);
    for (const setting of FILES) {
      const words = `the upstream refused the gateway's own credential with 401: see ${setting}`;
      expect(gateway.logLines.some((line) => line.includes(words))).toBe(true);
    }
  });
});
