import { Inject, Injectable } from '@nestjs/common';
import { API_KEY_LIST, READ_TOKEN_KEY_SET, READ_TOKEN_SECRET_LIST } from '../auth/auth.module.ts';
import { DeclaredAccess } from '../auth/declared-access.ts';
import type { TokenKeySet } from '../auth/token-key-set.ts';
import { RuntimeClient } from '../commands/runtime-client.ts';
import { InjectConfig, type GatewayConfig } from '../platform/config/gateway-config.ts';
import type { SecretList } from '../platform/config/secret-list.ts';
import { OpenCommandLimit } from '../platform/limits/open-command-limit.ts';
import { OpenReadLimits } from '../platform/limits/open-read-limits.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { MemoryWatch } from '../platform/memory/memory-watch.ts';
import { Connections } from '../platform/server/connections.ts';
import { GatewayState } from '../platform/server/gateway-state.ts';
import { OpenRequests } from '../platform/server/open-requests.ts';
import { StalledClients } from '../platform/server/stalled-clients.ts';
import { UpstreamCredentials } from '../proxy/upstream/upstream-credentials.ts';

/** The parts of the public port's application that its metrics, its drain and the management port use. */
@Injectable()
export class GatewayParts {
  /** The lists of secrets that have a file. */
  readonly secretFiles: readonly Pick<SecretList<unknown>, 'name' | 'isFileGood'>[];

  readonly limits: GatewayConfig['limits'];

  constructor(
    @InjectConfig() config: GatewayConfig,
    readonly state: GatewayState,
    readonly connections: Connections,
    readonly openRequests: OpenRequests,
    readonly held: HeldBytes,
    readonly stalledClients: StalledClients,
    readonly memoryWatch: MemoryWatch,
    readonly readLimits: OpenReadLimits,
    readonly commandLimit: OpenCommandLimit,
    readonly runtime: RuntimeClient,
    readonly access: DeclaredAccess,
    @Inject(READ_TOKEN_KEY_SET) readonly keySet: TokenKeySet | undefined,
    @Inject(API_KEY_LIST) apiKeys: SecretList<object>,
    @Inject(READ_TOKEN_SECRET_LIST) tokenSecrets: SecretList<object>,
    upstreamCredentials: UpstreamCredentials,
  ) {
    this.limits = config.limits;
    this.secretFiles = [apiKeys, tokenSecrets, ...upstreamCredentials.lists].filter(
      ({ hasFile }) => hasFile,
    );
  }
}
