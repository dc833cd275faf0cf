import { CommanderError } from 'commander';
import type { CliContext } from './cli-context.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';
import { withLeadingOptionsBehind } from './leading-options.ts';
import { createProgram } from './program.ts';

/** Runs the command line, prints every message, and returns the exit code. */
export async function runCli(args: string[], context: CliContext): Promise<number> {
  const program = createProgram(context);
  try {
    if (args.length === 0) {
      program.outputHelp();
      return EXIT.usage;
    }
    await program.parseAsync(withLeadingOptionsBehind(args, program), { from: 'user' });
    return context.exitCode;
  } catch (error) {
    if (context.interrupted.aborted) return context.interrupted.reason as number;
    return failed(error, context);
  }
}

function failed(error: unknown, { notices }: CliContext): number {
  // Help and version end this way too.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof CliError) {
    notices.say(error.message);
    if (error.hint !== undefined) notices.say(error.hint);
    return error.exitCode;
  }
  const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
  notices.say(`This is a fault of the program itself. ${words}`);
  return EXIT.failed;
}
