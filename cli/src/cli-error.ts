import { EXIT } from './exit-codes.ts';

/** A failure that is said in plain words, without a stack, and that ends the command. */
export class CliError extends Error {
  readonly exitCode: number;
  /** What to do about it, a line of its own. */
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
