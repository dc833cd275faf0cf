import type { ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../../src/platform/http/client-request.ts';
import { RequestContext, setRequestContext } from '../../src/platform/server/request-context.ts';

/** A request as a guard sees it, after the first step of the gateway. */
export function guardedRequest(
  method: string,
  path: string,
  headers: Record<string, string> = {},
): { request: ClientRequest; context: RequestContext } {
  const rawHeaders = Object.entries(headers).flat();
  const socket = {};
  const request = { method, url: path, headers, rawHeaders, socket } as unknown as ClientRequest;
  const context = new RequestContext('r1', path, '');
  setRequestContext(request, context);
  return { request, context };
}

/** What Nest tells a guard: the request, and the method of the controller that it is for. */
export function executionContext<Name extends string>(
  request: object,
  controller: { prototype: Record<Name, () => void> } & (new () => object) = Unmarked as never,
  name: Name = 'handle' as Name,
): ExecutionContext {
  return {
    getClass: () => controller,
    getHandler: () => controller.prototype[name],
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => ({}) }),
  } as unknown as ExecutionContext;
}

/** A controller that declares nothing. */
class Unmarked {
  handle(): void {}
}
