import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { answer } from '../../examples/chat/node-adapter.ts';
import { startProcess, untilReady } from '../../local/stack/process.ts';
import { ask, type Asked, type Sent } from '../client/chat-world.ts';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { listening } from '../support/listening.ts';
import { forAllTests } from '../support/for-this-test.ts';

const SERVER = join(import.meta.dirname, '../../examples/chat/server.ts');
const START_MS = 50_000;
const FOREIGN = { problem: 'Open this page as 127.0.0.1 or localhost.' };

/** The server of `examples/chat`. What `test/browser/chat` does in Chromium is not repeated here. */
describe('the server of the chat to copy', () => {
  const server = forAllTests(async () => {
    const running = startProcess({
      name: 'chat',
      command: process.execPath,
      args: [SERVER],
      env: {
        PATH: process.env.PATH,
        GATEWAY_URL: 'https://gateway.example/agents',
        GATEWAY_API_KEY: API_KEY,
        GATEWAY_READ_TOKEN_SECRETS: READ_TOKEN_SECRET,
        SESSION_SECRET: '',
        PORT: '0',
      },
    });
    const line = await untilReady(running, START_MS, () =>
      running.waitForLine((said) => said.startsWith('The chat is at')),
    );
    return { port: Number(/:(\d+)$/.exec(line)?.[1]), stop: () => running.kill() };
  });

  const asked = (path: string, how: Asked = {}): Promise<Sent> => ask(server, path, how);
  const signIn = async (name: unknown, headers = {}): Promise<Sent> =>
    asked('/session', { body: JSON.stringify({ name }), headers });

  it('opens the chats of whoever signed in, and of nobody else', async () => {
    const { headers } = await signIn('ada');
    const [cookie = ''] = String(headers['set-cookie']).split(';');
    const send = (agent: string) =>
      asked(`/chat/api/a/assistant/${agent}/send`, { headers: { cookie }, body: 'no JSON' });

    expect((await asked('/chat/token', { headers: { cookie } })).status).toBe(200);
    expect((await send('ada-1')).body).toMatchObject({ code: 'invalid_body' });
    expect((await send('bob-1')).body).toMatchObject({ code: 'agent_not_yours' });
    expect((await send('ada')).body).toMatchObject({ code: 'agent_not_yours' });
    expect((await asked('/chat/token', { headers: { cookie: `${cookie}x` } })).status).toBe(401);
  });

  it('takes no cookie that is signed with an empty secret', async () => {
    const claim = `ada.${Date.now() + 60_000}`;
    const signature = createHmac('sha256', '').update(claim).digest('base64url');
    const headers = { cookie: `session=${claim}.${signature}` };

    expect((await asked('/session', { method: 'GET', headers })).body).toEqual({});
    expect((await asked('/chat/token', { headers })).status).toBe(401);
  });

  it.each(['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', 'a b', '[::1]x'])(
    'answers nothing under the name %s, which another site may have pointed here',
    async (name) => {
      const host = `${name}:${server.port}`;
      const headers = { host, origin: `http://${host}`, 'sec-fetch-site': '' };

      expect(await signIn('ada', headers)).toMatchObject({ status: 421, body: FOREIGN });
      expect((await asked('/chat/token', { headers })).status).toBe(421);
      expect((await asked('/', { method: 'GET', headers })).status).toBe(421);
    },
  );

  it.each([
    ['no JSON', '/session', { body: '{x' }, 400, 'The server cannot read this request.'],
    ['too much', '/session', { body: `"${'x'.repeat(200_000)}"` }, 413, /cannot read/],
    ['no name', '/session', { body: '{"name":{"toString":1}}' }, 400, /letters and digits/],
    ['no web request', '/chat/token', { method: 'TRACE' }, 500, 'The server has a fault.'],
  ])('says of %s what is wrong, without its stack', async (_, path, how, status, problem) => {
    const answered = await asked(path, how);

    expect(answered).toMatchObject({
      status,
      body: { problem: typeof problem === 'string' ? problem : expect.stringMatching(problem) },
    });
    expect(JSON.stringify(answered)).not.toMatch(/node_modules|\.ts:|express/i);
  });

  it('lets its page read from a gateway whose address has a path', async () => {
    const { headers } = await asked('/nothing', { method: 'GET' });
    expect(headers['content-security-policy']).toContain(
      "connect-src 'self' https://gateway.example;",
    );
  });
});

it('the adapter sends each cookie of an answer', async () => {
  const cookies = ['a=1', 'b=2'];
  const response = new Response('', {
    headers: cookies.map((cookie): [string, string] => ['set-cookie', cookie]),
  });
  const server = await listening(
    createServer(
      (incoming, outgoing) => void answer(() => Promise.resolve(response), incoming, outgoing),
    ),
  );
  const { headers } = await ask(server, '/');
  await server.stop();
  expect(headers['set-cookie']).toEqual(cookies);
});
