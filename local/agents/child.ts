import type { ObjectContext } from '@restatedev/restate-sdk';
import type { GatewayAccess } from '../../client/src/agent/index.ts';
import { AgentGateway, APIError } from '../../client/src/index.ts';
import type { ChildWish } from './reply.ts';

/** Spawns an entity through the gateway, as any client would, with `parentUrl` as its parent. */
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
          // The same at every try of this invocation and never again: the gateway derives the child's
          // id from it, so that a try whose answer was lost does not leave a second child.
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

/** What another try would not change. A key that was rotated (401) is replaced some day. */
function isRefusal({ status }: APIError): boolean {
  return status !== undefined && status < 500 && ![401, 408, 425, 429].includes(status);
}
