import { describe, expect, it } from '@jest/globals';
import { streamPath, timelinePath } from './address.ts';
import { AgentGateway } from './gateway.ts';
import { checkedPath } from './path.ts';

/** Each led a back end's key elsewhere on the gateway, to Restate's admin API for example, or would have. */
const ELSEWHERE = [
  '../../registry/deployments',
  '..',
  '.',
  '%2e%2e/%2E%2e/registry/deployments',
  '.%2e/x',
  '..\\..\\registry\\deployments',
  '%2f..%2f',
  'a%2Fb',
  'a%5cb',
  '%252e%252e/x',
  '%252fx',
  'a%2500',
  'a%25c2%2585',
  'a%00',
  'a%0a',
  'a\nb',
  'x?offset=-1',
  'x#y',
  '/x',
  'x//y',
  'a%zz',
  'a%ff',
  'a%',
  'é',
  'a b',
  '"',
  '',
];

describe('a path of the gateway', () => {
  it.each([
    '/streams/t/acme/agents/chat/a1/timeline',
    '/streams/notes/',
    '/streams/...',
    '/streams/a..b/.hidden',
    '/streams/a%2eb',
    '/streams/caf%C3%A9',
    '/streams/100%25',
    '/streams/a%2520b',
    "/streams/a~b!$&'()*+,;=:@-_",
  ])('may be %s', (path) => {
    expect(checkedPath(path)).toBe(path);
  });

  it.each(ELSEWHERE)('does not come from a user called %j', (user) => {
    const path = `/t/acme/users/${user}/notes`;
    expect(() => streamPath(path)).toThrow(TypeError);
    expect(() => streamPath(`/streams${path}`)).toThrow(TypeError);
    expect(() => timelinePath(path, 'acme')).toThrow(TypeError);
    expect(() => timelinePath({ url: path }, 'acme')).toThrow(TypeError);
    expect(() =>
      timelinePath({ streamUrl: `https://gateway.example/streams${path}` }, 'acme'),
    ).toThrow(TypeError);
  });

  it.each(['', 'notes', 'https://evil.example/streams/x', '//evil.example/x', '?x', '/'])(
    'is never %j',
    (path) => {
      expect(() => streamPath(path)).toThrow(TypeError);
    },
  );

  it('is checked in every call, before anything is sent', async () => {
    const fetch = (): Promise<Response> => {
      throw new Error('was sent');
    };
    const gateway = new AgentGateway({ url: 'http://gateway.example', apiKey: 'k', fetch });
    expect(() => gateway.stream('/t/acme/../x')).toThrow(TypeError);
    expect(() => gateway.timeline('/t/acme/../x')).toThrow(TypeError);
    await expect(gateway.agents.send('chat/..', 'x')).rejects.toThrow(TypeError);
    await expect(gateway.deployments.remove('..')).rejects.toThrow(TypeError);
    await expect(gateway.invocations.kill('..')).rejects.toThrow(TypeError);
    const other = new AgentGateway({
      url: 'http://gateway.example',
      tenant: '..',
      apiKey: 'k',
      fetch,
    });
    await expect(other.agents.spawn({ type: 'chat' })).rejects.toThrow(TypeError);
    expect(() => other.timeline('chat/a1')).toThrow(TypeError);
  });
});
