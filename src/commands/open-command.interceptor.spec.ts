import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, Subject, type Observable } from 'rxjs';
import { executionContext } from '../../test/support/execution-context.ts';
import type { GatewayConfig } from '../contract/gateway-config.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { OpenCommandInterceptor } from './open-command.interceptor.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';
import { stateOf } from '../../test/support/state-of.ts';

const config = { maxBodyBytes: 10, limits: { maxOpenCommands: 1 } } as GatewayConfig;

/** A request whose body is written to it. */
function commandRequest(): PassThrough & { headers: object; body?: Buffer } {
  return Object.assign(new PassThrough(), { headers: {} });
}

describe('OpenCommandInterceptor', () => {
  const held = new HeldBytes(100_000);
  const interceptor = new OpenCommandInterceptor(config, held, new Telemetry());
  const begin = (
    request: PassThrough,
    answer: Observable<unknown> = new Subject(),
  ): Promise<Observable<unknown>> =>
    interceptor.intercept(executionContext(request), { handle: () => answer });
  const expectNothingOpen = (): void =>
    expect([stateOf(interceptor, 'gateway_open_commands'), held.byKind.bodies]).toEqual([0, 0]);

  it.each<[string, (answer: Subject<unknown>) => void]>([
    ['answered', (answer) => answer.complete()],
    ['refused', (answer) => answer.error(new Error('refused'))],
  ])('counts a command and its body as open until it is %s', async (_, end) => {
    const request = commandRequest();
    const answer = new Subject<unknown>();
    const begun = begin(request, answer);
    expect(stateOf(interceptor, 'gateway_open_commands')).toBe(1);
    request.end('0123456789');
    const done = lastValueFrom(await begun, { defaultValue: 'done' }).catch(() => 'failed');
    expect(String(request.body)).toBe('0123456789');
    expect(held.byKind.bodies).toBeGreaterThanOrEqual(10);
    end(answer);
    await done;
    expectNothingOpen();
  });

  it.each<[string, (request: PassThrough) => void, object]>([
    ['is too large', (request) => request.end('01234567890'), { code: 'body_too_large' }],
    ['is broken off', (request) => request.destroy(), { name: 'ClientGone' }],
  ])('counts a command no further whose body %s', async (_, send, error) => {
    const request = commandRequest();
    const begun = begin(request);
    send(request);
    await expect(begun).rejects.toMatchObject(error);
    expectNothingOpen();
  });

  it('refuses one beyond the limit before it reads its body, and counts it no further', async () => {
    const first = commandRequest();
    const begun = begin(first);
    await expect(begin(commandRequest())).rejects.toMatchObject({
      code: 'overloaded',
      reason: 'open_commands',
    });
    first.destroy();
    await expect(begun).rejects.toThrow();
    expectNothingOpen();
  });
});
