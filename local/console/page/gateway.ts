import { AgentGateway, type MintedToken } from '../../../packages/client/src/index.ts';
import { post, RefusedError } from './console-api.ts';

/** The console's facts about itself. */
export interface Settings {
  gatewayUrl: string;
  tenant: string;
}

/**
 * The gateway, read with tokens for one prefix. The page holds nothing but a token: the console mints it, and the
 * library renews it before it expires.
 */
export function readGateway({ gatewayUrl, tenant }: Settings, prefix: string): AgentGateway {
  const authCallback = async (): Promise<MintedToken> => {
    try {
      return (await post<MintedToken>('/token', { prefix })).body;
    } catch (error) {
      // Browsers have different messages for an unavailable server.
      const reason = error instanceof RefusedError ? error.message : 'the console does not answer';
      throw new Error(reason, { cause: error });
    }
  };
  return new AgentGateway({ url: gatewayUrl, tenant, authCallback });
}
