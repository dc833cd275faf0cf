import { EXIT } from '../exit-codes.ts';
import { existsSync } from 'node:fs';
import { ADDRESS_PATTERNS, readSmallFileSync } from '../gateway-rules.ts';
import {
  jwkSetReader,
  parseReadTokenSecrets,
  ReadTokenVerifier,
  TokenKeySet,
} from './token-rules.ts';

/** A wrong setting or an impossible request, in one sentence without a stack. */
export class TokenCommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.usage) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The gateway's settings for read tokens. */
export interface TokenSettings {
  tenant: string;
  /** The secrets. The first one signs. */
  secrets: Buffer[];
  jwks: string | undefined;
  maxTtlSeconds: number;
  shapes: { tables: '*' | string[]; tenantColumn: string };
}

type Variables = Record<string, string | undefined>;

/**
 * Reads the settings like the gateway. `loadConfig` is not used, because Node cannot run its decorators from
 * source, and because it requires settings that are not needed here. Throws `TokenCommandError`.
 */
export function tokenSettings(variables: Variables): TokenSettings {
  const get = (name: string): string | undefined => variables[name] || undefined;
  const tenant = get('GATEWAY_TENANT') ?? 'default';
  if (!ADDRESS_PATTERNS.tenant.test(tenant)) {
    throw new TokenCommandError(
      'GATEWAY_TENANT must be 1 to 63 letters, digits, underscores or hyphens.',
    );
  }
  const maxTtl = get('GATEWAY_READ_TOKEN_MAX_TTL_SECONDS') ?? '86400';
  if (!/^0*[1-9]\d{0,8}$/.test(maxTtl)) {
    throw new TokenCommandError(
      'GATEWAY_READ_TOKEN_MAX_TTL_SECONDS must be a whole number over 0.',
    );
  }
  const tables = (get('GATEWAY_SHAPES_TABLES') ?? 'entities').split(',').map((name) => name.trim());
  return {
    tenant,
    secrets: [
      ...secretsOf('GATEWAY_READ_TOKEN_SECRETS', get('GATEWAY_READ_TOKEN_SECRETS'), 'variable'),
      ...secretsOf(
        'GATEWAY_READ_TOKEN_SECRETS_FILE',
        readFile(get('GATEWAY_READ_TOKEN_SECRETS_FILE')),
        'file',
      ),
    ],
    jwks: get('GATEWAY_READ_TOKEN_JWKS'),
    maxTtlSeconds: Number(maxTtl),
    shapes: {
      tables: tables.includes('*') ? '*' : tables.filter((name) => name !== ''),
      // The only variable for which an empty value has a meaning: no tenant fence.
      tenantColumn: variables.GATEWAY_SHAPES_TENANT_COLUMN ?? 'tenant',
    },
  };
}

function readFile(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readSmallFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new TokenCommandError(
      `GATEWAY_READ_TOKEN_SECRETS_FILE must be a readable file (${code}).`,
    );
  }
}

function secretsOf(name: string, text: string | undefined, form: 'variable' | 'file'): Buffer[] {
  if (text === undefined) return [];
  const { entries, problems } = parseReadTokenSecrets(text, form);
  if (problems.length > 0) throw new TokenCommandError(`${name}: ${problems.join(', ')}.`);
  return entries;
}

/** The secret to sign with. Throws a `TokenCommandError` with the remedy if there is none. */
export function signingSecret({ secrets }: TokenSettings): Buffer {
  const [secret] = secrets;
  if (secret) return secret;
  const hint = existsSync('.local/settings.json')
    ? ' "npm run local" keeps its development secret in .local/settings.json, as readTokenSecret.'
    : '';
  throw new TokenCommandError(
    'There is no secret to sign with: set GATEWAY_READ_TOKEN_SECRETS or ' +
      `GATEWAY_READ_TOKEN_SECRETS_FILE to the gateway's own.${hint}`,
  );
}

/** Verifies tokens like a gateway with these settings. */
export function tokenVerifier(settings: TokenSettings): ReadTokenVerifier {
  const { secrets, jwks, tenant, maxTtlSeconds } = settings;
  const silent = { error: () => undefined, info: () => undefined };
  const keySet = jwks === undefined ? undefined : new TokenKeySet(jwkSetReader(jwks), silent);
  keySet?.start();
  return new ReadTokenVerifier({ entries: secrets, version: 0 }, keySet, {
    tenant,
    maxTtlSeconds,
    maxKnownTokens: 1,
  });
}
