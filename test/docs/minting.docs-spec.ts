import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { READ_TOKEN_SECRET } from '../support/gateway.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';
import { readPages, ROOT } from './pages.ts';

const PREFIX = '/streams/t/default/agents/chat/a1';
/** A compiler with an empty cache is slow. */
const RUN_TIMEOUT_MS = 120_000;

const blocks = readPages().find(({ path }) => path === 'docs/browser.md')?.blocks ?? [];

function snippet(file: string): string {
  const block = blocks.find(({ name }) => name === file);
  if (!block) throw new Error(`docs/browser.md has no ${file}`);
  return block.text;
}

interface Language {
  file: string;
  tool: string;
  /** Tells whether the tool is there. */
  probe: string[];
  /** The snippet as a program that prints one token. */
  program: (code: string) => string;
  args: (path: string, program: string) => string[];
}

const LANGUAGES: Language[] = [
  {
    file: 'mint.ts',
    tool: process.execPath,
    probe: ['--version'],
    program: (code) => `${code}\nconsole.log(await mintReadToken('${PREFIX}', 'ada', 300));\n`,
    args: (_, program) => ['--input-type=module-typescript', '--eval', program],
  },
  {
    file: 'mint.py',
    tool: 'python3',
    probe: ['--version'],
    program: (code) => `${code}\nprint(mint_read_token("${PREFIX}", "ada", 300))\n`,
    args: (path) => [path],
  },
  {
    file: 'mint.go',
    tool: 'go',
    probe: ['version'],
    program: (code) =>
      `package main\n\n${code}\nfunc main() { println(mintReadToken("${PREFIX}", "ada", 5*time.Minute)) }\n`,
    args: (path) => ['run', path],
  },
];

describe('docs/browser.md', () => {
  const folder = forAllTests(newFolder);
  const { gateway } = scriptedGateway((_, response) => response.end('read'));

  for (const { file, tool, probe, program, args } of LANGUAGES) {
    const isThere = spawnSync(tool, probe).status === 0;
    (isThere ? it : it.skip)(
      `mints with ${file} a token for just its prefix`,
      async () => {
        const path = join(folder.path, file);
        const code = program(snippet(file));
        await writeFile(path, code);
        // A Secret that was made from a file often ends with a line end.
        const secret = `\uFEFF ${READ_TOKEN_SECRET}\r\n`;
        const env = { ...process.env, READ_TOKEN_SECRET: secret, GOFLAGS: '', NODE_OPTIONS: '' };
        const { stdout, stderr } = await promisify(execFile)(tool, args(path, code), {
          // Where the TypeScript one finds its import.
          cwd: ROOT,
          env,
        });
        // Go's println writes to stderr.
        const token = (stdout || stderr).trim();
        expect(decodeJwt(token).sub).toBe('ada');
        const read = async (target: string) => {
          const headers = { authorization: `Bearer ${token}` };
          const response = await fetch(`${gateway.url}${target}`, { headers });
          return [response.status, response.status === 200 ? await response.text() : ''];
        };

        expect(await read(`${PREFIX}/timeline`)).toEqual([200, 'read']);
        expect(await read(`${PREFIX}0/timeline`)).toEqual([403, '']);
      },
      RUN_TIMEOUT_MS,
    );
  }
});
