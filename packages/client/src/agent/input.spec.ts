import { describe, expect, it } from '@jest/globals';
import { readInput } from './input.ts';

const OWN = '/t/team/a/helper/h1';
const PARENT = '/t/team/a/boss/b1';
const read = (value: object) => readInput(Buffer.from(JSON.stringify(value)), OWN);

describe('readInput', () => {
  const message = { kind: 'message', content: 'hello' };
  const caller = { url: PARENT, call: 'abcdefgh.1', chain: [PARENT] };

  it('reads who waits for the reply', () => {
    expect(read({ ...message, caller })).toMatchObject({ kind: 'message', caller });
  });

  // The result went, with the agent's key, wherever the URL led: to the timeline of another tenant, too.
  it.each<[string, object]>([
    [
      'a path that leads elsewhere',
      { ...caller, url: '/../streams/t/other/agents/a/b/timeline?x=' },
    ],
    ['dots', { ...caller, url: '/t/team/a/boss/..' }],
    ['no tenant', { ...caller, url: 'boss/b1' }],
    ['another tenant', { ...caller, url: '/t/other/a/boss/b1' }],
    ['another tenant in the chain', { ...caller, chain: ['/t/other/a/boss/b1'] }],
    ['a chain of 10,000', { ...caller, chain: Array.from({ length: 10_000 }, () => PARENT) }],
    ['a long call', { ...caller, call: 'x'.repeat(65) }],
    ['no call', { ...caller, call: '' }],
    ['no list of agents', { ...caller, chain: PARENT }],
  ])('takes a message as one that nobody waits for where its caller has %s', (_, wrong) => {
    expect(read({ ...message, caller: wrong })).not.toHaveProperty('caller');
    expect(read({ content: 5, caller: wrong })).not.toHaveProperty('caller');
  });
});
