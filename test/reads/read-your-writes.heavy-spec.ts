import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, request } from 'undici';
import { AUTHORIZED } from '../support/credentials.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startHistory } from '../support/history.ts';
import { shareOf } from '../support/share.ts';

const READS = shareOf(100_000);
const TIMELINES = 8;
/** Further readers of each timeline that ask for the same all the time. */
const READERS_BESIDE = 3;
/** The most events of a response. After that readers continue from a later offset. */
const EVENTS_PER_ANSWER = 20;

describe(`${READS} reads behind acknowledged appends`, () => {
  const history = forAllTests(() => startHistory());
  const gateway = forAllTests(() =>
    startGatewayChild({ env: { GATEWAY_HISTORY_URL: history.url } }),
  );
  let agent: Agent;
  beforeAll(() => void (agent = new Agent({ connections: 256 })));
  afterAll(() => agent.destroy());
  let reads = 0;
  let appends = 0;
  /** What was acknowledged before the read began and was not in its answer. */
  const stale: string[] = [];

  it('bring them all, whoever asks for the same at the same time', async () => {
    const names = Array.from({ length: TIMELINES }, (_, index) => `${Date.now()}-${index}`);
    await Promise.all(names.map(play));
    expect(stale).toEqual([]);
    expect(reads).toBeGreaterThanOrEqual(READS);
    // Not the same few answers over and over.
    expect(appends).toBeGreaterThan(READS / 10);
    process.stdout.write(`${appends} appends, ${reads} reads\n`);
  });

  /** One timeline, its writer and its readers. */
  async function play(name: string): Promise<void> {
    const path = `/t/default/agents/chat/${name}/timeline`;
    const readUrl = `${gateway.url}/streams${path}`;
    /** The sequence number of the last event that was acknowledged. */
    let acknowledged = -1;
    /** Where all read from just now: an offset, and the first event behind it. */
    let from = { offset: '-1', seq: 0 };
    let isDone = false;

    /** Reads and checks; resolves with where the answer ended. */
    async function read(): Promise<typeof from> {
      const { offset, seq: first } = from;
      const before = acknowledged;
      const url = `${readUrl}?offset=${offset}`;
      const answer = await request(url, { dispatcher: agent, headers: AUTHORIZED });
      const body = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`GET ${url}: ${answer.statusCode} ${body}`);
      const seqs = (JSON.parse(body) as { seq: number }[]).map(({ seq }) => seq);
      if (seqs.some((seq, index) => seq !== first + index)) throw new Error(`a gap: ${body}`);
      const next = first + seqs.length;
      reads++;
      if (next <= before) {
        stale.push(`${before} was acknowledged, the answer ended before ${next}`);
      }
      return { offset: String(answer.headers['stream-next-offset']), seq: next };
    }

    await send('PUT', history.url + path);
    const beside = Array.from({ length: READERS_BESIDE }, async () => {
      while (!isDone) await read();
    });
    while (reads < READS) {
      const seq = acknowledged + 1;
      appends++;
      // By turns through the gateway and at the store itself.
      await send('POST', seq % 2 === 1 ? readUrl : history.url + path, JSON.stringify({ seq }));
      acknowledged = seq;
      const next = await read();
      if (next.seq - from.seq > EVENTS_PER_ANSWER) from = next;
    }
    isDone = true;
    await Promise.all(beside);
  }

  async function send(method: 'PUT' | 'POST', url: string, body?: string): Promise<void> {
    const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
    const answer = await request(url, { dispatcher: agent, method, headers, body });
    if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.statusCode}`);
    await answer.body.dump();
  }
});
