import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { killAllClis, runCli, typeInShell } from '../support/cli.ts';
import { startLocalSystem } from '../support/local-system.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';

afterAll(killAllClis);
const folder = forAllTests(newFolder);
const system = forAllTests(() => startLocalSystem(join(folder.path, 'data')));

const shell = (line: string) =>
  typeInShell(line, folder.path, {
    AGENT_GATEWAY_URL: system.baseUrl,
    AGENT_GATEWAY_KEY: system.apiKey,
    GATEWAY_READ_TOKEN_SECRETS: system.exported.GATEWAY_READ_TOKEN_SECRETS ?? '',
  });

describe('the examples of --help', () => {
  it('do what they show, typed into a shell as they are', async () => {
    await writeFile(join(folder.path, 'message.json'), '{"kind":"message","content":[]}');
    for (const step of [
      'agent-gateway spawn assistant/ada',
      'agent-gateway spawn assistant/old',
      'mkdir -p ~/.config/agent-gateway',
      'agent-gateway keys generate --name x > key-file 2> entry',
      "sed 's/.*: //' entry > api-keys",
      'agent-gateway token mint --prefix /streams --prefix /shapes --ttl 1h > token-file',
      'cp token-file read-token',
      'git init -q .',
      `printf %s ${system.apiKey} > own-key`,
    ]) {
      expect({ step, ...(await shell(step)) }).toMatchObject({ step, code: 0 });
    }
    for (const example of await examplesOfHelp()) {
      const { command, code } = asItCanRun(example);
      const result = await shell(command);
      expect([example, result.code, result.err.replaceAll(/\n/g, ' ')]).toEqual([
        example,
        code,
        expect.not.stringMatching(/fault of the program|Warning: the key/),
      ]);
    }
    // Some fifty programs one after another, on a machine that may be busy.
  }, 300_000);
});

async function examplesOfHelp(): Promise<string[]> {
  const examples: string[] = [];
  const visit = async (words: string[]): Promise<void> => {
    const { out } = await runCli([...words, '--help']);
    const [, shown = ''] = out.split('\nExamples:\n');
    examples.push(
      ...[...(shown.split('\n\n')[0] ?? '').matchAll(/^ {2}(.*agent-gateway.*)$/gm)].map(
        ([, line = '']) => line,
      ),
    );
    const [, commands = ''] = /Commands:\n([^]*?)(?:\n\n|$)/.exec(out) ?? [];
    const names = [...out.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)? /gm)].map(([, name = '']) => name);
    if (words.length > 0 && commands === '') return;
    for (const name of new Set(names)) if (name !== 'help') await visit([...words, name]);
  };
  await visit([]);
  expect(examples.length).toBeGreaterThan(35);
  return [...new Set(examples)];
}

/** Ends commands that do not end by themselves, and replaces placeholders with values of this system. */
function asItCanRun(example: string): { command: string; code: number } {
  const isEndless = /gateway (?:tail(?!.*--no-follow)|watch)/.test(example);
  const command = example
    .replace(
      /^source <\(.* zsh\).*$/,
      "zsh -fc 'autoload -U compinit && compinit -u && source <(agent-gateway completion zsh)'",
    )
    .replace(/\| source .*$/, "> fish-completion && fish -N -c 'source fish-completion'")
    .replace('https://gateway.example --key-file key-file', system.baseUrl + ' --key-file own-key')
    .replace('https://gateway.example --key-file key', system.baseUrl + ' --key-file own-key')
    .replace('< key-file', example.includes('profile add') ? '< own-key' : '< key-file')
    .replaceAll('http://127.0.0.1:8787', system.baseUrl);
  if (isEndless) return { command: `timeout -k 60 -s INT 2 bash -c ${quoted(command)}`, code: 124 };
  // These name an invocation, a deployment and an address that nobody has.
  const isOfNobody = /cancel .*inv_1jH|dp_14L/.test(example);
  const isOfNoAddress = example.includes('127.0.0.1:9080');
  return { command, code: isOfNobody ? 4 : isOfNoAddress ? 1 : 0 };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
