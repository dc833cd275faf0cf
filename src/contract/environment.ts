import type { BlockList } from 'node:net';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { LOG_LEVELS, type LogLevel } from '../platform/log/log-level.ts';
import { ADDRESS_PATTERNS } from './address-patterns.ts';
import { BaseUrl, KeySetSource } from '../platform/config/http-url.decorator.ts';
import { NetList, OriginList, TableList, type ListOrAll } from './list.decorator.ts';
import { BEARER_MESSAGE, BEARER_VALUE } from './secret-lists.ts';
import { TrueOrFalse, WholeNumber } from '../platform/config/setting.decorator.ts';

/** How sends are addressed. */
export const RUNTIME_APIS = ['classic', 'restate'] as const;
export type RuntimeApi = (typeof RUNTIME_APIS)[number];

const MILLISECONDS_PER_DAY = 86_400_000;

/**
 * The environment variables of the gateway, one property each, with their defaults. Secrets are strings
 * here; `load-config.ts` parses them.
 */
export class Environment {
  /** Without it the gateway listens on all addresses, IPv6 and IPv4. */
  @IsOptional()
  @Matches(/^[0-9A-Za-z.:_-]+$/, { message: 'must be an IP address or a host name to listen on' })
  GATEWAY_HOST?: string;

  @WholeNumber(0, 65_535)
  GATEWAY_PORT = 8787;

  @WholeNumber(0, 65_535)
  GATEWAY_MANAGEMENT_PORT = 8788;

  @TrueOrFalse()
  GATEWAY_REUSE_PORT = false;

  @BaseUrl()
  GATEWAY_PUBLIC_URL?: string;

  @Matches(ADDRESS_PATTERNS.tenant, {
    message:
      'must be 1 to 63 letters, digits, underscores or hyphens, the first a letter or a digit',
  })
  GATEWAY_TENANT = 'default';

  GATEWAY_API_KEYS?: string;
  GATEWAY_API_KEYS_FILE?: string;
  GATEWAY_READ_TOKEN_SECRETS?: string;
  GATEWAY_READ_TOKEN_SECRETS_FILE?: string;

  @KeySetSource()
  GATEWAY_READ_TOKEN_JWKS?: string;

  @WholeNumber(1, 31_536_000)
  GATEWAY_READ_TOKEN_MAX_TTL_SECONDS = 86_400;

  @BaseUrl()
  GATEWAY_RUNTIME_INGRESS_URL = 'http://localhost:8080';

  @BaseUrl()
  GATEWAY_RUNTIME_ADMIN_URL = 'http://localhost:9070';

  @IsOptional()
  @Matches(BEARER_VALUE, { message: BEARER_MESSAGE })
  GATEWAY_RUNTIME_INGRESS_TOKEN?: string;
  GATEWAY_RUNTIME_INGRESS_TOKEN_FILE?: string;

  @IsOptional()
  @Matches(BEARER_VALUE, { message: BEARER_MESSAGE })
  GATEWAY_RUNTIME_ADMIN_TOKEN?: string;
  GATEWAY_RUNTIME_ADMIN_TOKEN_FILE?: string;

  @Matches(/^(?=.*\{id\})(?:[^{}\p{Cc}\p{Cs}]|\{(?:tenant|type|id)\})+$/u, {
    message: 'must hold {id}, and may hold {tenant} and {type}; no other braces',
  })
  GATEWAY_RUNTIME_KEY_TEMPLATE = '{id}';

  @IsIn(RUNTIME_APIS, { message: `must be one of ${RUNTIME_APIS.join(', ')}` })
  GATEWAY_RUNTIME_API: RuntimeApi = 'restate';

  @BaseUrl()
  GATEWAY_HISTORY_URL = 'http://localhost:4437/v1/stream';

  @IsOptional()
  @Matches(BEARER_VALUE, { message: BEARER_MESSAGE })
  GATEWAY_HISTORY_TOKEN?: string;
  GATEWAY_HISTORY_TOKEN_FILE?: string;

  @BaseUrl()
  GATEWAY_SYNC_URL = 'http://localhost:3000';

  GATEWAY_SYNC_SECRET?: string;
  GATEWAY_SYNC_SECRET_FILE?: string;

  @TableList()
  GATEWAY_SHAPES_TABLES: ListOrAll = ['entities'];

  @Matches(/^(?:[^"\p{Cc}\p{Cs}]{1,63})?$/u, {
    message: 'must be a column name without double quotes, or empty for no fence',
  })
  GATEWAY_SHAPES_TENANT_COLUMN = 'tenant';

  @WholeNumber(1, 1_073_741_824)
  GATEWAY_MAX_BODY_BYTES = 1_048_576;

  @OriginList()
  GATEWAY_CORS_ALLOW_ORIGINS: ListOrAll = '*';

  @TrueOrFalse()
  GATEWAY_SHARED_READS = true;

  // The defaults of these four depend on the available memory.
  @WholeNumber(1, 10_000_000)
  GATEWAY_MAX_CONNECTIONS?: number;

  @WholeNumber(1, 10_000_000)
  GATEWAY_MAX_OPEN_READS?: number;

  @WholeNumber(1, 10_000_000)
  GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL?: number;

  @WholeNumber(1, 10_000_000)
  GATEWAY_MAX_OPEN_READS_PER_SUBJECT?: number;

  @WholeNumber(0, 1_000_000)
  GATEWAY_RATE_LIMIT_PER_SECOND = 0;

  @WholeNumber(0, MILLISECONDS_PER_DAY)
  GATEWAY_RUNTIME_OUTAGE_WAIT_MS = 3000;

  @WholeNumber(1, 600_000)
  GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS = 2000;

  @WholeNumber(1, MILLISECONDS_PER_DAY)
  GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS = 15_000;

  @WholeNumber(1, MILLISECONDS_PER_DAY)
  GATEWAY_LIVE_TIMEOUT_MS = 120_000;

  @WholeNumber(1, MILLISECONDS_PER_DAY)
  GATEWAY_CLIENT_STALL_TIMEOUT_MS = 60_000;

  @WholeNumber(1, MILLISECONDS_PER_DAY)
  GATEWAY_UPSTREAM_STALL_TIMEOUT_MS = 60_000;

  @WholeNumber(0, MILLISECONDS_PER_DAY)
  GATEWAY_DRAIN_TIMEOUT_MS = 25_000;

  @TrueOrFalse()
  GATEWAY_HEALTH_FAILS_ON_DRAIN = false;

  @IsIn(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(', ')}` })
  GATEWAY_LOG_LEVEL: LogLevel = 'info';

  @TrueOrFalse()
  GATEWAY_AUDIT_LOG = true;

  @IsOptional()
  @Matches(/^\/[^\0]*[^/\0]$/, { message: 'must be the absolute path of a file' })
  GATEWAY_AUDIT_FILE?: string;

  @NetList()
  GATEWAY_TRUSTED_PROXIES?: BlockList;
}
