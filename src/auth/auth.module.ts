import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Logger } from 'pino';
import { CONFIG, type GatewayConfig } from '../contract/gateway-config.ts';
import type { ApiKey } from '../contract/api-key.ts';
import { SecretFiles } from '../platform/config/secret-files.ts';
import { SecretList } from '../platform/config/secret-list.ts';
import { LOGGER } from '../platform/log/create-logger.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';
import { NameResolver } from '../platform/names/name-resolver.ts';
import { AccessGuard } from './access.guard.ts';
import { ApiKeys } from './api-keys.ts';
import { DeclaredAccess } from './declared-access.ts';
import { jwkSetSource } from './jwk-set-source.ts';
import { WithdrawnCredentials } from './withdrawn-credentials.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import { TokenKeySet } from './token-key-set.ts';

/** Injects the `SecretList` of the API keys. */
const API_KEY_LIST = Symbol('API key list');
/** Injects the `SecretList` of the secrets that sign read tokens. */
const READ_TOKEN_SECRET_LIST = Symbol('read token secret list');
/** Injects the `TokenKeySet`, or undefined if no setting names one. */
const READ_TOKEN_KEY_SET = Symbol('read token key set');

/** API keys, read tokens, and the guard that every route passes. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: API_KEY_LIST,
      inject: [CONFIG, LOGGER, SecretFiles],
      useFactory: ({ apiKeys }: GatewayConfig, logger: Logger, files: SecretFiles) =>
        files.add(new SecretList(apiKeys, logger), { isOfCallers: true }),
    },
    {
      provide: READ_TOKEN_SECRET_LIST,
      inject: [CONFIG, LOGGER, SecretFiles],
      useFactory: ({ readTokens }: GatewayConfig, logger: Logger, files: SecretFiles) =>
        files.add(new SecretList(readTokens.secrets, logger), { isOfCallers: true }),
    },
    {
      provide: ApiKeys,
      inject: [API_KEY_LIST],
      useFactory: (list: SecretList<ApiKey>) => new ApiKeys(list),
    },
    {
      provide: READ_TOKEN_KEY_SET,
      inject: [CONFIG, LOGGER, NameResolver, Telemetry],
      useFactory: (
        { readTokens: { jwks } }: GatewayConfig,
        logger: Logger,
        names: NameResolver,
        telemetry: Telemetry,
      ) => (jwks === undefined ? undefined : telemetry.show(startKeySet(jwks, logger, names))),
    },
    {
      provide: ReadTokenVerifier,
      inject: [READ_TOKEN_SECRET_LIST, READ_TOKEN_KEY_SET, CONFIG],
      useFactory: (
        secrets: SecretList<Buffer>,
        keySet: TokenKeySet | undefined,
        { tenant, readTokens: { maxTtlSeconds }, limits: { maxOpenReads } }: GatewayConfig,
      ) =>
        // Each open read may have a token of its own.
        new ReadTokenVerifier(secrets, keySet, {
          tenant,
          maxTtlSeconds,
          maxKnownTokens: maxOpenReads,
        }),
    },
    AccessGuard,
    DeclaredAccess,
    WithdrawnCredentials,
  ],
  exports: [AccessGuard, DeclaredAccess, ApiKeys],
})
export class AuthModule {}

function startKeySet(location: string, logger: Logger, names: NameResolver): TokenKeySet {
  const keySet = new TokenKeySet(jwkSetSource(location, names.lookup), logger);
  // A missing key set must not keep the gateway from starting.
  keySet.start();
  return keySet;
}
