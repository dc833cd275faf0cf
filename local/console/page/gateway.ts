import { AgentGateway, type MintedToken } from '../../../client/src/index.ts';
import { post, RefusedError } from './console-api.ts';

/** What the console tells of itself. */
export interface Settings {
  gatewayUrl: string;
  tenant: string;
}

/**
 * The gateway, read with tokens for one prefix. A token is all that this page ever holds: the console mints it, and the
 * library asks for a fresh one before the old one ends.
 */
export function readGateway({ gatewayUrl, tenant }: Settings, prefix: string): AgentGateway {
  const authCallback = async (): Promise<MintedToken> => {
    try {
      return (await post<MintedToken>('/token', { prefix })).body;
    } catch (error) {
      // What `fetch` itself says of a server that is away differs between browsers.
      const reason = error instanceof RefusedError ? error.message : 'the console does not answer';
      throw new Error(reason, { cause: error });
    }
  };
  return new AgentGateway({ url: gatewayUrl, tenant, authCallback });
}
