import { describe, expect, it } from '@jest/globals';
import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import { AgentGateway, SessionEnded } from '../../packages/client/src/index.ts';
import { mintReadToken, readTokenFor } from '../../packages/client/src/tokens.ts';
import { READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { newTimeline } from '../support/numbered-events.ts';
import { forAllTests } from '../support/for-this-test.ts';

// A long-poll lasts longer than a token.
const catalog = forAllTests(() =>
  startCatalog({ port: 0, databasePath: ':memory:', longPollTimeoutMs: 20_000 }),
);
const history = forAllTests(() => startHistory({ longPollTimeoutMs: 1_000 }));
const gateway = forAllTests(() =>
  startTestGateway({ GATEWAY_SYNC_URL: catalog.url, GATEWAY_HISTORY_URL: history.url }),
);

const secret = READ_TOKEN_SECRET;
const row = (id: string) =>
  entity(id, { url: `/t/default/a/x/${id}`, tenant: 'default', type: 'x', status: 'idle' });

async function seqsOf(reader: AgentGateway, agent: string): Promise<number[]> {
  const seqs: number[] = [];
  await reader.timeline(agent, { live: false }).subscribe(({ seq }) => seqs.push(seq));
  return seqs;
}

describe('the catalog with tokens that end', () => {
  // Each long-poll ended with a 401 when its token did, and the catalog was not live until the next one.
  it('renews them before the end', async () => {
    await putEntity(catalog, row('first'));
    let minted = 0;
    const statuses = new Set<number>();
    const states = new Set<string>();
    const reader = new AgentGateway({
      url: gateway.url,
      authCallback: async () => {
        minted += 1;
        if (minted === 4) await putEntity(catalog, row('fourth'));
        return mintReadToken({ secret, prefix: '/shapes', ttlSeconds: 9 });
      },
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        statuses.add(response.status);
        return response;
      },
    });
    for await (const rows of reader.catalog({ onState: ({ name }) => states.add(name) })) {
      if (rows.some(({ id }) => id === 'fourth')) break;
    }
    expect(minted).toBeGreaterThanOrEqual(4);
    expect([...statuses]).toEqual([200]);
    expect([...states]).toEqual(['connecting', 'live']);
  });
});

describe('the catalog with tokens that are over when they come', () => {
  // It asked for tokens in a loop, and aborted each long-poll before it could be sent.
  it('asks for one token for each request', async () => {
    await putEntity(catalog, row('over'));
    let minted = 0;
    let requests = 0;
    const ended = new AbortController();
    const reader = new AgentGateway({
      url: gateway.url,
      authCallback: async () => {
        minted += 1;
        if (minted === 6) ended.abort();
        const { token } = await mintReadToken({ secret, prefix: '/shapes' });
        return { token, ttlSeconds: 0.001 };
      },
      fetch: (input, init) => {
        requests += 1;
        return fetch(input, init);
      },
    });
    await reader.catalog({ signal: ended.signal }).subscribe(() => undefined);
    expect(minted).toBe(6);
    expect(requests).toBeGreaterThanOrEqual(minted - 1);
  });
});

describe('a token that is older than the agent', () => {
  it('is renewed once', async () => {
    for (const id of ['old', 'new', 'foreign']) await newTimeline(history.url, id, 1);
    let minted = 0;
    const agents = ['old'];
    const reader = new AgentGateway({
      url: gateway.url,
      authCallback: () => {
        minted += 1;
        const prefix = agents.map((id) => `/streams/t/default/agents/chat/${id}`);
        return mintReadToken({ secret, prefix });
      },
    });
    const read = (id: string) => seqsOf(reader, `chat/${id}`);
    expect(await read('old')).toEqual([0]);
    agents.push('new');
    // The read failed with 403 until the old token was over, which can be hours.
    expect(await read('new')).toEqual([0]);
    expect(minted).toBe(2);
    await expect(read('foreign')).rejects.toMatchObject({
      name: 'APIError',
      status: 403,
      code: 'prefix_not_covered',
    });
    expect(minted).toBe(3);
    expect(await read('old')).toEqual([0]);
    expect(minted).toBe(3);
  });
});

describe('a session that has ended', () => {
  it('ends every read for good, and is not asked for again', async () => {
    await newTimeline(history.url, 'ended', 2);
    let isOver = false;
    let asked = 0;
    const reader = new AgentGateway({
      url: gateway.url,
      authCallback: async () => {
        asked += 1;
        if (isOver) throw new SessionEnded('signed out');
        return mintReadToken({ secret, prefix: ['/streams', '/shapes'], ttlSeconds: 2 });
      },
    });
    const ended = {
      name: 'APIError',
      code: 'session_ended',
      message: 'The session has ended: signed out.',
    };
    const seqs: number[] = [];
    const reading = reader.timeline('chat/ended').subscribe(({ seq }) => {
      seqs.push(seq);
      isOver = true;
    });
    const rows = reader.catalog().subscribe(() => undefined);
    await Promise.all([
      expect(reading).rejects.toMatchObject(ended),
      expect(rows).rejects.toMatchObject(ended),
    ]);
    const askedBefore = asked;
    await expect(reader.catalog().subscribe(() => undefined)).rejects.toMatchObject(ended);
    await expect(reader.agents.send('chat/x', 'hi')).rejects.toMatchObject(ended);
    expect([seqs, asked]).toEqual([[0, 1], askedBefore]);
  });
});

describe('a read token for an agent', () => {
  it('opens its timeline and no other', async () => {
    for (const id of ['mine', 'mine2']) await newTimeline(history.url, id, 1);
    const authCallback = () => readTokenFor({ url: '/t/default/a/chat/mine' }, { secret });
    const reader = new AgentGateway({ url: gateway.url, authCallback });
    expect(await seqsOf(reader, 'chat/mine')).toEqual([0]);
    await expect(seqsOf(reader, 'chat/mine2')).rejects.toMatchObject({
      code: 'prefix_not_covered',
    });
  });

  it('may pin the catalog with values as a list', async () => {
    await putEntity(catalog, row('pinned'));
    const pinned = { where: 'id = $1', params: ['pinned'] };
    const shape = { table: 'entities', ...pinned };
    const authCallback = () => mintReadToken({ secret, prefix: '/shapes', shape });
    const reader = new AgentGateway({ url: gateway.url, authCallback });
    for await (const rows of reader.catalog({ ...pinned, live: false })) {
      expect(rows.map(({ id }) => id)).toEqual(['pinned']);
    }
  });
});
