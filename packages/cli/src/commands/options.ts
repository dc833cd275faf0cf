import { Option, type Command } from 'commander';
import { usageError } from '../cli-error.ts';
import type { ConnectionFlags } from '../connection/connection.ts';

/** The parsed options of `withConnection` and `withRetry`. */
export interface ConnectedOptions extends ConnectionFlags {
  /** In seconds. */
  retryFor: number;
}

const DEFAULT_RETRY_SECONDS = 10;

/** Adds the options of every command that talks to a gateway. */
export function withConnection(command: Command): Command {
  return command
    .optionsGroup('Which gateway, and as whom:')
    .option('--url <url>', 'its address; http://127.0.0.1:8787 where nothing names one')
    .option('--key-file <file>', 'a file with the API key or read token; - for standard input')
    .option('--key <key>', 'the key itself, which others can see in the list of processes')
    .option('--tenant <name>', "the tenant, if it is not the gateway's default")
    .option('--profile <name>', 'a profile of the configuration file')
    .option('--config <file>', 'the configuration file')
    .option('--allow-http', 'send the key also over http:// to another machine');
}

/** Adds the option for the total time of retries. */
export function withRetry(command: Command): Command {
  return command.addOption(
    new Option('--retry-for <seconds>', 'how long to try again while the gateway is not there')
      .default(DEFAULT_RETRY_SECONDS)
      .argParser((text) => parseSeconds('--retry-for', text)),
  );
}

/** Throws a usage error. */
export function parseSeconds(option: string, text: string): number {
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(text)) {
    throw usageError(`${option} must be a number of seconds.`);
  }
  return Number(text);
}
