import { describe, expect, it } from '@jest/globals';
import { consoleSteps, isRead } from './console-block.ts';
import { answerProblems, type Answer } from './http-block.ts';
import type { Block } from './markdown.ts';
import { NOT_RUN } from './not-run.ts';
import { treatmentOf, type Check } from './treatment.ts';

const block = (language: string, text: string, more: Partial<Block> = {}): Block => ({
  page: 'a.md',
  line: 1,
  language,
  name: undefined,
  text,
  marker: undefined,
  ...more,
});

describe('treatmentOf', () => {
  it.each(['', 'ts', 'yaml'])('refuses an unmarked block of %j', (language) => {
    expect(() => treatmentOf(block(language, 'x'))).toThrow(
      `Nothing runs a block of "${language}"`,
    );
  });

  it.each(['npm ci', 'npm run build', 'a && npm test', 'npm run --silent local -- --fresh'])(
    'refuses %j, which would change the project that is tested, unless it is marked',
    (text) => {
      expect(() => treatmentOf(block('sh', text))).toThrow('mark it, and let CI run it');
      const marker = 'ci; it changes the project';
      expect(treatmentOf(block('sh', text, { marker }))).toMatchObject({ check: 'ci' });
    },
  );

  it.each(['never; there is no such check', 'ci', 'ci; short', 'ci no reason'])(
    'refuses the marker %j',
    (marker) => {
      expect(() => treatmentOf(block('sh', 'x', { marker }))).toThrow('why it is not run');
    },
  );
});

describe('consoleSteps', () => {
  it('takes commands, their continuations and outputs apart', () => {
    expect(consoleSteps('$ a \\\n  b\nc\n\nd\n$ e\nf\n^C\n')).toEqual([
      { command: 'a \\\n  b', shown: 'c\n\nd\n', isEndless: false },
      { command: 'e', shown: 'f\n', isEndless: true },
    ]);
  });

  it('refuses output that no command gave', () => {
    expect(() => consoleSteps('a\n')).toThrow('begins with a command');
  });
});

it('asks again only what reads', () => {
  expect(['curl x', 'curl -sSi x'].map(isRead)).toEqual([true, true]);
  expect(['curl x -d y', "curl x --json '{}'", 'curl -X PUT x', 'npm x'].map(isRead)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

describe('answerProblems', () => {
  const answer: Answer = {
    status: 202,
    statusText: 'Accepted',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  };

  it.each([
    ['HTTP/1.1 200 OK\n\n{"a":1}', 'HTTP/1.1 202 Accepted, not HTTP/1.1 200 OK'],
    ['HTTP/1.1 202 Accepted\nX-A: b\n\n{"a":1}', 'X-A: undefined, not b'],
    ['HTTP/1.1 202 Accepted\n\n{"a":2}', '{"a":1}\nnot\n{"a":2}'],
  ])('says of %j what is not so', (shown, problem) => {
    expect(answerProblems(shown, answer)).toEqual([problem]);
  });
});

describe('a block that is not run', () => {
  const problems = (check: Check, text: string): string[] =>
    NOT_RUN[check](block('sh', text), { said: 'one\ntwo\nthree' });

  it.each<[Check, string, string]>([
    ['ci', 'npm run nothing', 'npm run nothing is not in .ci/run'],
    ['script', 'npm run benhc', 'npm run benhc is no script'],
    ['cluster', 'helm instal gateway x', 'helm has no instal here'],
    ['cluster', 'kubectl creat x', 'kubectl has no creat here'],
    ['machine', 'sudo deploy/systemd/rol.sh', 'there is no deploy/systemd/rol.sh'],
    ['cli', 'agent-gateway list', 'agent-gateway has no list'],
    ['cli', 'agent-gateway ls --tial', 'agent-gateway ls has no --tial'],
    ['printed', 'two\nfour', 'not printed, but:\none\ntwo\nthree'],
  ])('fails as %s: %j', (check, text, problem) => {
    expect(problems(check, text)).toEqual([problem]);
  });

  it('fails where bash cannot read it, or it has none of the commands', () => {
    expect(() => problems('cluster', 'if')).toThrow('bash ends with');
    expect(() => problems('cluster', 'true')).toThrow('no command of helm, kubectl');
  });
});
