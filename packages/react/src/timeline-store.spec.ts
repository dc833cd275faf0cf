import { AgentGateway } from '@agent-gateway/client';
import { describe, expect, it } from '@jest/globals';
import { fakePage, FakeStore } from '../../../test/support/fake-page.ts';
import { AgentStore } from './agent-store.ts';

const said = (seq: number, text: string) => ({
  seq,
  at: '',
  kind: 'message',
  content: [{ type: 'text', text }],
});

describe('the turns of a page', () => {
  // They stayed, with those of the restored store behind them.
  it('start over when the store went back', async () => {
    const page = fakePage();
    const store = new FakeStore();
    const gateway = new AgentGateway({ url: 'http://gateway.test', fetch: store.fetch });
    const agent = new AgentStore(gateway, 'chat/a1');
    const shows = (...texts: string[]): Promise<void> =>
      new Promise((resolve) => {
        const leave = agent.subscribe(() => {
          const now = agent.getState().turns.map(({ message }) => message?.text);
          if (JSON.stringify(now) !== JSON.stringify(texts)) return;
          leaving.push(leave);
          resolve();
        });
      });
    const leaving: (() => void)[] = [];
    const both = shows('one', 'two');
    (await store.request(1)).page([said(0, 'one'), said(1, 'two')], '0_2');
    (await store.request(2)).open().send([], '0_2');
    await both;
    page.hide();
    page.show();
    (await store.request(3)).open().send([], '0_1');
    const restored = shows('one', 'new');
    (await store.request(4)).open().send([said(0, 'one'), said(1, 'new')], '0_2');
    await restored;
    expect(agent.getState().turns).toHaveLength(2);
    for (const leave of leaving) leave();
    page.remove();
  });
});
