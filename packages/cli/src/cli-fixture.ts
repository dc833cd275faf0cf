import { Readable, Writable } from 'node:stream';
import { Notices } from './output/notices.ts';
import { runCli } from './run-cli.ts';

/** The result of a run. */
export interface Result {
  code: number;
  out: string;
  err: string;
}

/** Runs in this process, where no server listens, for decisions before any request. */
export async function run(
  args: string[],
  {
    env = {},
    input = '',
    columns = 80,
  }: { env?: Record<string, string>; input?: string; columns?: number } = {},
): Promise<Result> {
  const said = { out: '', err: '' };
  const sink = (name: 'out' | 'err'): Writable =>
    new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        said[name] += text;
        done();
      },
    });
  const context = {
    env: { HOME: '/nonexistent', AGENT_GATEWAY_URL: 'http://127.0.0.1:9', ...env },
    stdin: Readable.from([Buffer.from(input)]),
    stdout: Object.assign(sink('out'), { columns }),
    notices: new Notices(sink('err')),
    interrupted: new AbortController().signal,
    endWithReader: () => undefined,
    watchReader: () => undefined,
    exitCode: 0,
  };
  return { code: await runCli(args, context), ...said };
}
