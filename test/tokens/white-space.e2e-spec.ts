import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { mintReadToken as mintByCommandLine } from '../../packages/cli/src/token/mint-read-token.ts';
import { tokenSettings } from '../../packages/cli/src/token/token-settings.ts';
import { AgentGateway } from '../../packages/client/src/index.ts';
import { chatBackEnd } from '../../packages/client/src/server/index.ts';
import { mintReadToken } from '../../packages/client/src/tokens.ts';
import { forThisTest } from '../support/for-this-test.ts';
import { API_KEY, READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { newFolder } from '../support/new-folder.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const PREFIX = '/streams/t/default/agents/chat/ada';

// A line end behind a secret that the gateway and a back end share made every page 401.
describe.each([
  ['a line end', (text: string) => `${text}\n`],
  ['a line end of Windows', (text: string) => `${text}\r\n`],
  ['spaces and tabs', (text: string) => ` \t${text}\t `],
  ['a byte-order mark', (text: string) => `\uFEFF${text}`],
])('a secret or key with %s around it', (_, spaced) => {
  const secret = spaced(READ_TOKEN_SECRET);

  it.each(['variable', 'file'])(
    'is the same everywhere; the gateway has it in a %s',
    async (form) => {
      const history = forThisTest(
        await startScriptedUpstream((_, response) => response.end('read')),
      );
      const file = async (text: string): Promise<string> => {
        const path = join(forThisTest(await newFolder()).path, 'file');
        await writeFile(path, text);
        return path;
      };
      const inForm = async (name: string, text: string): Promise<Record<string, string>> =>
        form === 'variable' ? { [name]: text } : { [`${name}_FILE`]: await file(text) };
      const secrets = await inForm('GATEWAY_READ_TOKEN_SECRETS', secret);
      const gateway = forThisTest(
        await startTestGateway({
          GATEWAY_HISTORY_URL: history.url,
          ...(form === 'file' && { GATEWAY_API_KEYS: '' }),
          ...(await inForm('GATEWAY_API_KEYS', spaced(API_KEY))),
          ...(form === 'file' && { GATEWAY_READ_TOKEN_SECRETS: '' }),
          ...secrets,
          ...(await inForm('GATEWAY_HISTORY_TOKEN', spaced('history-token'))),
        }),
      );
      const client = new AgentGateway({ url: gateway.url, apiKey: spaced(API_KEY) });
      const chat = chatBackEnd({
        gateway: client,
        readTokenSecret: secret,
        authorize: () => ({ subject: 'ada', owns: (agent) => agent === 'chat/ada' }),
      });
      const chatToken = await chat(
        new Request('http://chat.test/chat/token', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
          body: '{"agents":["chat/ada"]}',
        }),
      );
      expect(chatToken.status).toBe(200);
      const minted = [
        ((await chatToken.json()) as { token: string }).token,
        (await mintReadToken({ secret, prefix: PREFIX })).token,
        await mintByCommandLine(
          { prefixes: [PREFIX], ttlSeconds: 60, subject: 'ada', shape: undefined },
          tokenSettings(secrets),
        ),
      ];
      for (const credential of [...minted, API_KEY]) {
        const headers = { authorization: `Bearer ${credential}` };
        const response = await fetch(`${gateway.url}${PREFIX}/timeline`, { headers });
        expect([response.status, await response.text()]).toEqual([200, 'read']);
      }
      expect(history.seen.at(-1)?.headers.authorization).toBe('Bearer history-token');
    },
  );
});
