import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { UnprovenEnd } from '../upstream/connections/unproven-end.ts';
import { Relay } from './relay.ts';

/** A response whose client takes what is written when the test says so. */
class SlowResponse extends EventEmitter {
  written = '';
  hasEnded = false;
  isBroken = false;
  headersSent = true;
  req = { method: 'GET' };
  useChunkedEncodingByDefault = true;
  socket = { resetAndDestroy: () => this.destroy(), uncork: () => {} };
  private taken: (() => void)[] = [];

  write(chunk: Buffer, onTaken: () => void): boolean {
    if (this.hasEnded || this.isBroken) throw new Error('write after end');
    this.written += chunk.toString();
    this.taken.push(onTaken);
    return false;
  }

  uncork(): void {}

  end(): void {
    this.hasEnded = true;
    this.emit('close');
  }

  destroy(): void {
    this.isBroken = true;
    this.emit('close');
  }

  take(): void {
    for (const onTaken of this.taken.splice(0)) onTaken();
  }
}

function relayOf(contentType: string, stallMs = 60_000) {
  const source = Object.assign(new PassThrough(), { headers: { 'content-type': contentType } });
  const response = new SlowResponse();
  const held = new HeldBytes(1_000_000);
  const relay = new Relay(
    source as unknown as IncomingMessage,
    response as unknown as ServerResponse,
    held,
    stallMs,
  );
  relay.start();
  return { source, response, held, relay };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Relay', () => {
  it('breaks an answer off of which nothing more comes', async () => {
    const { source, response } = relayOf('application/json', 20);
    const closed = once(response, 'close');
    source.write('one');
    await turn();
    response.take();
    await closed;
    expect([response.isBroken, response.hasEnded, source.destroyed]).toEqual([true, false, true]);
  });

  it('waits for the next event of a stream of them for as long as it takes', async () => {
    const { source, response } = relayOf('text/event-stream', 1);
    const other = relayOf('application/json', 1);
    await once(other.response, 'close');
    source.write('data: 1\n\n');
    await turn();
    expect([response.isBroken, response.written]).toEqual([false, 'data: 1\n\n']);
  });

  // Metrics and traces took it for a good end.
  it('breaks off an answer whose end proves nothing, and tells its source so', async () => {
    const { source, response } = relayOf('application/json');
    Object.assign(source, { socket: Object.create(TLSSocket.prototype) as TLSSocket });
    const closed = once(response, 'close');
    source.end();
    await closed;
    expect([response.isBroken, response.hasEnded]).toEqual([true, false]);
    expect(source.errored).toBeInstanceOf(UnprovenEnd);
  });

  it('has one piece under way at a time, and counts it until its client has taken it', async () => {
    const { source, response, held } = relayOf('application/json');
    source.write('one');
    source.write('two');
    await turn();
    expect(response.written).toBe('one');
    expect(held.of('answers')).toBeGreaterThanOrEqual(3);
    response.take();
    await turn();
    expect(response.written).toBe('onetwo');
    response.take();
    source.end();
    await once(source, 'end');
    expect([held.total, response.hasEnded]).toEqual([0, true]);
  });

  it('breaks the answer off when its source breaks off, and when the budget needs its room', async () => {
    const broken = relayOf('application/json');
    broken.source.destroy(new Error('reset'));
    await turn();
    expect(broken.response.isBroken).toBe(true);

    const slow = relayOf('application/json');
    slow.source.write('x');
    await turn();
    slow.held.hold('events', 1_000_000);
    await turn();
    slow.held.release('events', 1_000_000);
    expect([slow.response.isBroken, slow.held.total, slow.source.destroyed]).toEqual([
      true,
      0,
      true,
    ]);
  });
});
