import type { LoggerTransport } from '@restatedev/restate-sdk';

/**
 * Writes one line for a failed attempt. The SDK's own log has two lines for every invocation, which means every
 * word, and a stack for every retry. Restate shows the stack of an invocation's last failure.
 */
export const logFailures: LoggerTransport = ({ level, replaying, context }, ...message) => {
  if (replaying || context === undefined) return;
  // The SDK exports the levels' type, not their values.
  const name: string = level;
  if (name !== 'warn' && name !== 'error') return;
  const text = message.map(oneLine).join(' ').trim();
  console.error(`agents: ${context.invocationTarget}: ${text}`);
};

function oneLine(part: unknown): string {
  const cause = part instanceof Error && part.cause instanceof Error ? part.cause : undefined;
  const text = part instanceof Error ? part.message : String(part);
  // The SDK appends the stack to the message.
  const [line = ''] = text.trim().split('\n');
  return cause ? `${line} (${cause.message})` : line;
}
