import type { ObjectContext } from '@restatedev/restate-sdk';
import type { GatewayAccess } from '../../packages/client/src/agent/index.ts';
import { AgentGateway, APIError } from '../../packages/client/src/index.ts';
import type { ChildWish } from './reply.ts';

/** Spawns an entity through the gateway, like any client, with `parentUrl` as its parent. */
export async function spawnChild(
  ctx: Pick<ObjectContext, 'run' | 'request'>,
  { gatewayUrl, apiKey }: GatewayAccess,
  parentUrl: string,
  child: ChildWish,
): Promise<{ url: string } | { refusal: string }> {
  const { id: invocationId, attemptCompletedSignal } = ctx.request();
  const gateway = new AgentGateway({ url: gatewayUrl, apiKey });
  return ctx.run('spawn child', async () => {
    try {
      const { url } = await gateway.agents.spawn(
        { ...child, parent: parentUrl },
        {
          // The key is the same at every attempt of this invocation and different in any other. The gateway derives
          // the child's id from it, so that an attempt whose response was lost does not create a second child.
          idempotencyKey: `child-of-${invocationId}`,
          signal: attemptCompletedSignal,
        },
      );
      return { url };
    } catch (error) {
      if (error instanceof APIError && isRefusal(error)) return { refusal: error.message };
      // Restate runs the step again.
      throw error;
    }
  });
}

/** Statuses that a retry would not change. A rotated key (401) is replaced some day. */
function isRefusal({ status }: APIError): boolean {
  return status !== undefined && status < 500 && ![401, 408, 425, 429].includes(status);
}
