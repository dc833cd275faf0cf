import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { examples } from '../help-text.ts';

const SETTINGS_HELP =
  'Uses the settings of a gateway, from the environment or its files: ' +
  'GATEWAY_READ_TOKEN_SECRETS or its _FILE, GATEWAY_READ_TOKEN_JWKS, GATEWAY_TENANT.';

export interface MintOptions {
  prefix: string[];
  /** In seconds. */
  ttl: number;
  subject?: string;
  shape?: string;
  tenant?: string;
}

export interface ExamineOptions {
  json?: boolean;
  tenant?: string;
}

export function tokenCommand(context: CliContext): Command {
  return new Command('token')
    .summary('mint and examine read tokens')
    .description('Mints read tokens for browsers, and says what a token opens.')
    .addCommand(mintCommand(context))
    .addCommand(inspectCommand(context))
    .addCommand(checkCommand(context));
}

function mintCommand(context: CliContext): Command {
  return new Command('mint')
    .summary('make a read token')
    .description(
      `Prints one read token, signed with the first of the gateway's secrets. ${SETTINGS_HELP}`,
    )
    .requiredOption('--prefix <path>', 'what it opens; up to 16 times', collect)
    .requiredOption('--ttl <time>', 'how long it lasts: seconds, or such as 15m, 2h, 1d', parseTtl)
    .option(
      '--subject <name>',
      'the user that the token is for; the gateway limits the open reads of each',
    )
    .option(
      '--shape <json>',
      'the only shape that the token may read: {table, where?, params?, columns?}',
    )
    .option('--tenant <name>', 'the tenant, in place of GATEWAY_TENANT')
    .addHelpText(
      'after',
      examples(
        'agent-gateway token mint --prefix /streams/t/default/agents/assistant/ada --ttl 5m',
        'agent-gateway token mint --prefix /streams/t/default --prefix /shapes/v1/shape --ttl 1h',
        'agent-gateway tail assistant/ada --key-file <(agent-gateway token mint --prefix /streams --ttl 60)',
      ),
    )
    .action(async (options: MintOptions) => {
      const { mint } = await import('./token-actions.ts');
      await mint(options, context);
    });
}

function inspectCommand(context: CliContext): Command {
  return new Command('inspect')
    .summary('say what a read token opens')
    .description(
      `Says in words what a token opens, until when, and why it would be refused. ${SETTINGS_HELP}`,
    )
    .argument('[token]', 'the token; - for standard input', '-')
    .option('--tenant <name>', 'the tenant, in place of GATEWAY_TENANT')
    .option('--json', 'print header, claims and verdict as JSON')
    .addHelpText(
      'after',
      examples(
        'agent-gateway token inspect < token-file',
        'agent-gateway token inspect - --json < token-file | jq .claims.exp',
      ),
    )
    .action(async (token: string, options: ExamineOptions) => {
      const { inspect } = await import('./token-actions.ts');
      await inspect(token, options, context);
    });
}

function checkCommand(context: CliContext): Command {
  return new Command('check')
    .summary('say whether a read token opens a path')
    .description(
      `Says whether a token opens a path, and why; the exit code is 0 for yes and 1 for no. ${SETTINGS_HELP}`,
    )
    .argument('<token>', 'the token; - for standard input')
    .argument('<path>', 'the path on the gateway, which may have a query')
    .option('--tenant <name>', 'the tenant, in place of GATEWAY_TENANT')
    .option('--json', 'print the answer as JSON: open, why')
    .addHelpText(
      'after',
      examples(
        'agent-gateway token check - /streams/t/default/agents/assistant/ada/timeline < token-file',
        `agent-gateway token check - '/shapes/v1/shape?table=entities' --json < token-file`,
      ),
    )
    .action(async (token: string, path: string, options: ExamineOptions) => {
      const { check } = await import('./token-actions.ts');
      await check(token, path, options, context);
    });
}

const UNIT_SECONDS: Record<string, number> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 };

function parseTtl(text: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  if (count === undefined) throw usageError('--ttl must be seconds, or such as 15m, 2h, 1d.');
  return Number(count) * (UNIT_SECONDS[unit] ?? 1);
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
