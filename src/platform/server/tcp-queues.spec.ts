import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { readTcpQueues, readTcpQueuesSync } from './tcp-queues.ts';

/** Many containers have no IPv6. */
const HOSTS = ['127.0.0.1', '::1'].filter((host) =>
  Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === host),
  ),
);

/** The kernel's table has the queues of both ends, in whichever address family. */
const inLinux = process.platform === 'linux' ? describe : describe.skip;

inLinux('what the kernel holds for a connection', () => {
  const toClose: { destroy(): void }[] = [];
  afterEach(() => {
    for (const each of toClose.splice(0)) each.destroy();
  });

  async function pair(host: string): Promise<{ sender: Socket; reader: Socket }> {
    const server = createServer({ pauseOnConnect: true }).listen(0, host);
    toClose.push({ destroy: () => server.close() });
    await once(server, 'listening');
    const sender = connect((server.address() as AddressInfo).port, host);
    const [[reader]] = await Promise.all([once(server, 'connection'), once(sender, 'connect')]);
    toClose.push(sender, reader as Socket);
    return { sender, reader: reader as Socket };
  }

  it.each(HOSTS)('is what its ends have sent and not read, on %s', async (host) => {
    const { sender, reader } = await pair(host);
    expect(readTcpQueuesSync()?.of(reader)).toEqual({ unsentBytes: 0, unreadBytes: 0 });
    // More than the kernel takes for one connection: the rest waits in the process.
    sender.write(Buffer.alloc(50_000_000));
    await new Promise(setImmediate);
    const { unreadBytes } = readTcpQueuesSync()!.of(reader);
    const { unsentBytes } = (await readTcpQueues())!.of(sender);
    expect(unreadBytes).toBeGreaterThan(16_384);
    expect(unsentBytes).toBeGreaterThan(16_384);
    expect(unreadBytes + unsentBytes).toBeLessThanOrEqual(50_000_000);
  });

  it('is nothing for a closed connection', async () => {
    const { sender } = await pair('127.0.0.1');
    sender.write(Buffer.alloc(50_000_000));
    sender.destroy();
    await once(sender, 'close');
    expect(readTcpQueuesSync()?.of(sender)).toEqual({ unsentBytes: 0, unreadBytes: 0 });
  });
});
