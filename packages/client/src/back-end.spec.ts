import { describe, expect, it } from '@jest/globals';
import { AgentGateway } from './index.ts';

/** A page's client whose requests the test records. No request leaves. */
function pageWith(backEnd: string) {
  const seen: string[] = [];
  const fetchNow: typeof fetch = async (input, { headers } = {}) => {
    seen.push(`${input as string} ${new Headers(headers).get('authorization')}`);
    return Response.json({ token: 'a-token', ttlSeconds: 300 });
  };
  return { seen, page: new AgentGateway({ url: 'https://gw.example', backEnd, fetch: fetchNow }) };
}

describe('the back end of a page', () => {
  it.each([
    ['/chat', '/chat'],
    ['/chat/', '/chat'],
    ['https://app.example/chat', 'https://app.example/chat'],
  ])('gets the commands without a credential: %s', async (backEnd, base) => {
    const { seen, page } = pageWith(backEnd);
    const answered = page.agents.send('assistant/ada', 'hello');
    await expect(answered).rejects.toMatchObject({ code: 'invalid_response' });
    const url = '/t/acme/a/assistant/ada';
    await page.agents.control(url, 'interrupt').catch(() => undefined);
    expect(seen).toEqual([
      `${base}/api/a/assistant/ada/send null`,
      `${base}/api/t/acme/a/assistant/ada/control null`,
    ]);
  });

  it.each([
    '//evil.example',
    '/\\evil.example',
    'chat',
    '',
    'ftp://x/',
    '/chat?a',
    '/chat#a',
    'https://a@b/',
  ])('must be a path of this origin, or a URL: %s', (backEnd) => {
    expect(() => pageWith(backEnd)).toThrow(
      new TypeError('backEnd must be a path such as /chat, or an http or https URL.'),
    );
  });

  it('is no credential beside another', () => {
    const options = { url: 'https://gw.example', backEnd: '/chat', apiKey: 'a-key' };
    expect(() => new AgentGateway(options)).toThrow(
      new TypeError('Give one of apiKey, authCallback and backEnd.'),
    );
  });
});
