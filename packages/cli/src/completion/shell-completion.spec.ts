import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Notices } from '../output/notices.ts';
import { createProgram } from '../program.ts';
import { shellCompletion } from './shell-completion.ts';

const run = promisify(execFile);
const context = { stdout: new Writable(), notices: new Notices(new Writable()) };
const program = createProgram(context as never);
const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cli-completion-'));
  for (const shell of SHELLS) writeFileSync(join(folder, shell), shellCompletion(shell, program));
  writeFileSync(join(folder, 'a-file'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What each shell makes of a line that ends where the cursor is. */
const COMPLETE: Record<Shell, (line: string) => string[]> = {
  bash: (line) => [
    '-c',
    `source ./bash
     read -ra COMP_WORDS <<< "$1"; [[ $1 == *' ' ]] && COMP_WORDS+=('')
     COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
     compopt() { :; }
     _agent_gateway; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    line,
  ],
  // The completion system works in a line editor only; here what it would be told is printed.
  zsh: (line) => [
    '-f',
    '-c',
    `compdef() { :; }
     _describe() { print -l -- \${(P)2%%:*} }
     compadd() { print -l -- $@ }
     _files() { print -l -- * }
     _message() { : }
     source ./zsh
     words=(\${(s: :)1}); [[ $1 == *' ' ]] && words+=('')
     CURRENT=$#words; PREFIX=$words[CURRENT]
     _agent_gateway | { [[ -n $PREFIX ]] && grep -e "^$PREFIX" || cat }`,
    'zsh',
    line,
  ],
  fish: (line) => [
    '--no-config',
    '-c',
    `source ./fish; complete -C $argv[1] | string replace -r '\\t.*' ''; true`,
    line,
  ],
};

async function complete(shell: Shell, line: string): Promise<string[]> {
  const { stdout } = await run(shell, COMPLETE[shell](line), { cwd: folder });
  return [...new Set(stdout.split('\n').filter(Boolean))].sort();
}

/** `bash` is on every machine that this is developed on; CI installs the others. */
const here = SHELLS.filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);

it('is tried where it is used', () => {
  expect(here).toEqual(process.env.CI ? SHELLS : expect.arrayContaining(['bash']));
});

describe.each(here)('the completion for %s', (shell) => {
  it.each<[string, string[]]>([
    ['agent-gateway s', ['send', 'spawn', 'stop']],
    ['agent-gateway token ', ['check', 'help', 'inspect', 'mint']],
    ['agent-gateway token m', ['mint']],
    ['agent-gateway control assistant/ada p', ['pause']],
    ['agent-gateway control assistant/ada ', ['archive', 'interrupt', 'pause', 'resume']],
    ['agent-gateway tail assistant/ada --live ', ['long-poll', 'sse']],
    ['agent-gateway tail assistant/ada --no', ['--no-follow']],
    ['agent-gateway spawn assistant --args', ['--args', '--args-file']],
    ['agent-gateway ls --url ', []],
    ['agent-gateway send assistant/ada --file a-', ['a-file']],
    ['agent-gateway keys hash a-', ['a-file']],
    ['agent-gateway completion ', ['bash', 'fish', 'zsh']],
  ])('completes %j', async (line, words) => {
    expect(await complete(shell, line)).toEqual(words);
  });
});
