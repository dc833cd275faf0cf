import type { InstantUpstream } from './instant.ts';
import { startNodeProgram } from './node-program.ts';

/**
 * Node's own server in a process of its own, which answers at once, as the history store would if it had
 * nothing to do for a read.
 */
export async function startNodeUpstream(): Promise<InstantUpstream> {
  const { process: upstream, line: streamsUrl } = await startNodeProgram({
    name: 'the upstream that answers at once',
    main: 'node-upstream-main.ts',
    ready: 'http://',
  });
  return { streamsUrl, stop: () => upstream.kill() };
}
