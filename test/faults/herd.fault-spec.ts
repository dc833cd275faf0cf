import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startChildStore, type ChildStore } from '../support/child-store.ts';
import { AUTHORIZED } from '../support/credentials.ts';
import { afterThisTest, forAllTests, forThisTest } from '../support/for-this-test.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { newFolder } from '../support/new-folder.ts';
import { Readers } from '../support/readers.ts';
import { TLS_IDENTITY } from '../support/tls-identity.ts';

const READERS = 3_000;
/** Shorter than the store needs for all reads. */
const CONNECT_TIMEOUT_MS = 1_000;
const PAUSE_MS = 1.5 * CONNECT_TIMEOUT_MS;

/** Half of 6,000 reads got 502 before a healthy store: they waited behind others for a connection. */
describe('thousands of readers who come at once', () => {
  const folder = forAllTests(newFolder);
  let certificate: string;
  let store: ChildStore;
  let gateway: GatewayChild;
  let readers: Readers;

  beforeAll(async () => {
    certificate = join(folder.path, 'ca.pem');
    await writeFile(certificate, TLS_IDENTITY.cert);
  });

  async function start(protocol: 'http' | 'https'): Promise<Readers> {
    store = forThisTest(await startChildStore('events-store-main.ts', protocol));
    gateway = await startGatewayChild({
      env: {
        NODE_EXTRA_CA_CERTS: certificate,
        GATEWAY_HISTORY_URL: store.url,
        // The store takes three times as long for a connection with TLS.
        GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: String(
          (protocol === 'https' ? 3 : 1) * CONNECT_TIMEOUT_MS,
        ),
        GATEWAY_MAX_OPEN_READS: String(2 * READERS),
        GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL: String(2 * READERS),
      },
    });
    afterThisTest(() => gateway.kill());
    readers = new Readers({
      port: gateway.port,
      credential: AUTHORIZED.authorization,
      live: 'long-poll',
      target: (index) => `/streams/t/${index}?offset=1_0&live=long-poll`,
    });
    afterThisTest(() => readers.stop());
    return readers;
  }

  /** All wait at the store, are answered, and wait again. */
  async function expectEvents(rounds: number): Promise<void> {
    for (let round = 1; round <= rounds; round++) {
      const before = readers.events;
      await store.untilAsked(before + READERS);
      store.answer(100);
      await readers.until(() => readers.events >= before + READERS);
    }
    expect([...readers.statuses]).toEqual([]);
    expect(readers.count('gone')).toBe(0);
  }

  it.each(['https', 'http'] as const)('are all let in, before an %s store', async (protocol) => {
    await (await start(protocol)).add(READERS, READERS);
    await expectEvents(2);
  });

  it.each(['gateway', 'store'])('are all let in when the %s stops for a while', async (who) => {
    await (await start('http')).add(READERS / 2, READERS / 2);
    const { pid } = who === 'gateway' ? gateway : store;
    process.kill(pid, 'SIGSTOP');
    const rest = readers.add(READERS / 2, READERS / 2);
    // The pause is the fault.
    await after(PAUSE_MS);
    process.kill(pid, 'SIGCONT');
    await rest;
    await expectEvents(2);
  });

  // At most 1,024 connections were kept: with each event the others were closed, and opened again.
  it('keep their connections to the store from one event to the next', async () => {
    await (await start('http')).add(READERS, READERS);
    await expectEvents(1);
    await store.untilAsked(2 * READERS);
    const opened = store.accepted;
    await expectEvents(4);
    expect(store.accepted).toBe(opened);
  });
});
