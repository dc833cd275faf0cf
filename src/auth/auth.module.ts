import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Logger } from 'pino';
import { CONFIG, type GatewayConfig } from '../contract/gateway-config.ts';
import { SecretFiles } from '../platform/config/secret-files.ts';
import { LOGGER } from '../platform/log/create-logger.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';
import { NameResolver } from '../platform/names/name-resolver.ts';
import { AccessGuard } from './access.guard.ts';
import { ApiKeys } from './api-keys.ts';
import { DeclaredAccess } from './declared-access.ts';
import { jwkSetReader } from './jwk-set.ts';
import { WithdrawnCredentials } from './withdrawn-credentials.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import { TokenKeySet } from './token-key-set.ts';

/** The memory for so many is taken at the start. No process serves more reads well. */
const MAX_KNOWN_TOKENS = 50_000;

/** API keys, read tokens, and the guard that every route passes. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: ApiKeys,
      inject: [CONFIG, SecretFiles],
      useFactory: ({ apiKeys }: GatewayConfig, files: SecretFiles) =>
        new ApiKeys(files.add(apiKeys, { isOfCallers: true })),
    },
    {
      provide: ReadTokenVerifier,
      inject: [CONFIG, LOGGER, SecretFiles, NameResolver, Telemetry],
      useFactory: readTokenVerifier,
    },
    AccessGuard,
    DeclaredAccess,
    WithdrawnCredentials,
  ],
  exports: [AccessGuard, DeclaredAccess, ApiKeys],
})
export class AuthModule {}

function readTokenVerifier(
  { tenant, readTokens, limits }: GatewayConfig,
  logger: Logger,
  files: SecretFiles,
  names: NameResolver,
  telemetry: Telemetry,
): ReadTokenVerifier {
  const { secrets, jwks, maxTtlSeconds } = readTokens;
  files.add(secrets, { isOfCallers: true });
  const keySet =
    jwks === undefined
      ? undefined
      : telemetry.show(new TokenKeySet(jwkSetReader(jwks, names.lookup), logger));
  // Not awaited, because a missing key set must not keep the gateway from starting.
  keySet?.start();
  // Each open read may have a token of its own.
  const maxKnownTokens = Math.min(limits.maxOpenReads, MAX_KNOWN_TOKENS);
  return new ReadTokenVerifier(secrets, keySet, { tenant, maxTtlSeconds, maxKnownTokens });
}
