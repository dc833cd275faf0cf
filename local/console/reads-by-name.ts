import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './answers.ts';
import { forward, isRead, type GatewayAccess } from './forward.ts';
import { refuseForeignOrigin } from './same-origin.ts';

/** With this path a page tries whether its browser takes the name for this machine. Any page may: it tells nothing. */
const TRIAL = '/health';

/** Answers under a name of one page: the reads that this page sends from the console's own origin, and nothing else. */
export async function answerPageName(
  access: GatewayAccess,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isTrial = path === TRIAL;
  if (request.method !== 'GET' || !(isTrial || isRead(path))) {
    throw new Refusal(404, 'not_found', 'There is nothing at this path.');
  }
  if (isTrial) {
    const headers = { 'cache-control': 'no-store', 'cross-origin-resource-policy': 'cross-origin' };
    response.writeHead(204, headers).end();
    return;
  }
  const origin = refuseForeignOrigin(request);
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', '*');
  response.setHeader('vary', 'origin');
  await forward(access, request, response);
}
