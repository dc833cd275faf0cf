import { describe, expect, it } from '@jest/globals';
import { runCli, typeInShell, type CliResult } from '../support/cli.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { shareOf } from '../support/share.ts';

const EVENTS = 5_000;
const RUNS = shareOf(500);
/** Also on a machine that does other work. */
const RUN_MS = 2_000;

const folder = forAllTests(newFolder);
const head = {
  'content-type': 'application/json',
  'stream-next-offset': '1_1',
  'stream-up-to-date': 'true',
  'x-request-id': 'r1',
};
const events = Array.from({ length: EVENTS }, (_, seq) => ({
  seq,
  kind: 'data',
  data: 'x'.repeat(100),
}));
const big = JSON.stringify(events);
const front = forAllTests(() =>
  startScriptedUpstream((request, response) => {
    if (request.url?.includes('/big/')) response.writeHead(200, head).end(big);
    else
      response.writeHead(404, { 'content-type': 'application/json', 'x-request-id': 'r2' }).end();
  }),
);
const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
const TAIL = 'agent-gateway tail chat/big --no-follow --json';

const typed = (line: string): Promise<CliResult> =>
  typeInShell(line, folder.path, { AGENT_GATEWAY_URL: front.url });

describe('a command', () => {
  // One of fifteen ended with 13 and "unsettled top-level await": it waited for a `drain` that comes only after a full buffer.
  it(
    'ends with its own code and its whole output, whatever reads it',
    async () => {
      for (let run = 0; run < RUNS; run += 1) {
        const { code, out, err } = await typed(`${TAIL} | wc -c; echo "\${PIPESTATUS[0]}"`);
        expect({ run, code, out, err }).toEqual({
          run,
          code: 0,
          out: `${lines.length}\n0\n`,
          err: '',
        });
      }
    },
    RUNS * RUN_MS,
  );

  it.each<[string, string, string, RegExp]>([
    ['a reader that has had enough', `${TAIL} | head -c 5`, '{"seq', /^$/],
    ['a closed output', `${TAIL} >&-`, '', /^$/],
    ['a failure that nobody reads', 'agent-gateway tail chat/none --no-follow | true', '', /404/],
    [
      'a full disk',
      `${TAIL} >/dev/full`,
      '',
      /^agent-gateway: The output cannot be written: no space is left \(ENOSPC\)\.\n$/,
    ],
    ['help on a full disk', 'agent-gateway --help >/dev/full', '', /no space is left/],
  ])('ends so for %s', async (what, line, out, err) => {
    const code = what.includes('full') ? 1 : what.includes('failure') ? 4 : 0;
    const typedLine = await typed(`${line}; echo "code \${PIPESTATUS[0]}"`);
    expect(typedLine).toEqual({
      code: 0,
      out: `${out}code ${code}\n`,
      err: expect.stringMatching(err),
    });
  });

  it('keeps its own code when the reader of its answers has gone', async () => {
    const own = await runCli(['doctor', '--url', front.url]);
    expect(own.code).not.toBe(0);
    const { out } = await typed('agent-gateway doctor | true; echo "code ${PIPESTATUS[0]}"');
    expect(out).toBe(`code ${own.code}\n`);
  });
});
