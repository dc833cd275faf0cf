import type { LoggerTransport } from '@restatedev/restate-sdk';

/**
 * One line for a try that failed. The SDK's own log has two lines for every invocation, which is
 * every word, and a stack for every retry; Restate shows the stack of an invocation's last failure.
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
  if (!(part instanceof Error)) return String(part).trim();
  return part.cause instanceof Error ? `${part.message} (${part.cause.message})` : part.message;
}
