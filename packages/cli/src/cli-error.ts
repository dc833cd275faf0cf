import { EXIT } from './exit-codes.ts';

/** A failure with a plain message, without a stack. It ends the command. */
export class CliError extends Error {
  readonly exitCode: number;
  /** The remedy, on a line of its own. */
  readonly hint: string | undefined;

  constructor(exitCode: number, message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, message, hint);
}
