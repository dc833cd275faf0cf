import type { ObjectContext } from '@restatedev/restate-sdk';
import { describe, request } from './gateway-client.ts';
import type { GatewayAccess } from './gateway-client.ts';
import type { ChildWish } from './reply.ts';

/** Spawns an entity through the gateway, as any client would, with `parentUrl` as its parent. */
export async function spawnChild(
  ctx: Pick<ObjectContext, 'run' | 'request'>,
  access: GatewayAccess,
  parentUrl: string,
  child: ChildWish,
): Promise<{ url: string } | { refusal: string }> {
  const { id: invocationId, attemptCompletedSignal } = ctx.request();
  const init = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${access.apiKey}`,
      'content-type': 'application/json',
      // The same at every try of this invocation and never again: the gateway derives the child's
      // id from it, so that a try whose answer was lost does not leave a second child.
      'idempotency-key': `child-of-${invocationId}`,
    },
    body: JSON.stringify({ ...child, parent: parentUrl }),
  };
  return ctx.run('spawn child', async () => {
    const answer = await request(`${access.gatewayUrl}/api/spawn`, init, attemptCompletedSignal);
    if (answer.status !== 202) return { refusal: describe(answer) };
    return { url: (JSON.parse(answer.text) as { url: string }).url };
  });
}
