import assert from 'node:assert/strict';
import type { Spread } from '../../bench/measure/statistics.ts';
import type { PartName } from '../../bench/options.ts';
import type { Measurements } from '../../bench/results.ts';
import type { ReadsTable } from '../../bench/scenarios/reads.ts';
import type { Checks } from '../support/checks.ts';

type Check = (measured: Partial<Measurements>) => void;

const COPIES = ['gateway', 'nginx-1', 'gateway-2', 'nginx-2', 'gateway-4', 'nginx-4'];

const COMMAND_WAYS = ['gateway', 'direct', 'bare-undici', 'nest', 'dutiful-nest'];

/** The checks of each part, by a sentence that says what it must have measured. */
const CHECKS: Record<PartName, Record<string, Check>> = {
  plain: {
    'every contender reads, and nothing goes wrong': ({ plain }) => {
      assertReads(plain?.node, [
        'gateway',
        'gateway-quiet',
        'gateway-traced',
        'nginx',
        'nginx-logging',
        'haproxy',
        'bare-undici',
        'bare-sockets',
        'dutiful-sockets',
        'fastify-http-proxy',
        'fast-proxy',
        'http2-proxy',
        'http-proxy',
        'http-proxy-middleware',
        'fastify-logging',
        'direct',
      ]);
      assertReads(plain?.nginx, [
        'gateway',
        'nginx',
        'haproxy',
        'bare-undici',
        'bare-sockets',
        'dutiful-sockets',
        'fastify-http-proxy',
        'direct',
      ]);
    },
  },
  tokens: {
    'every number of tokens is read with': ({ tokens }) => {
      assert.deepEqual(
        tokens?.rows.map((row) => row.tokens),
        [0, 1, 12_000, 40_000, 100_000],
      );
      for (const row of tokens?.rows ?? []) {
        assert.equal(row.failure, undefined);
        assertPositive(row.requestsPerSecond, row.cpuUsPerRequest);
      }
    },
  },
  'same-url': {
    'every contender reads, before each upstream': ({ 'same-url': tables }) => {
      const ids = ['gateway', 'nginx', 'bare-shared', 'dutiful-shared', 'direct'];
      assertReads(tables?.node, ids);
      assertReads(tables?.nginx, ids);
      assertReads(tables?.store, ids);
    },
  },
  copies: {
    'as many copies as workers of nginx read': ({ copies }) => {
      assertReads(copies?.reads, COPIES);
    },
    'events reach every reader of them': ({ copies }) => {
      assert.deepEqual(
        copies?.delivery.map(({ id }) => id),
        COPIES,
      );
      for (const row of copies.delivery) {
        assert.equal(row.failure, undefined);
        assertPositive(row.p50Ms, row.p99Ms, row.parkedBytes, row.afterEventsBytes);
      }
    },
  },
  'fan-out': {
    'events reach every reader of every contender': ({ 'fan-out': table }) => {
      const rows = table?.rows.map(({ id, live }) => `${id} ${live}`);
      assert.deepEqual(table?.missing, []);
      assert.deepEqual(rows, [
        'gateway long-poll',
        'gateway-large-young long-poll',
        'nginx long-poll',
        'bare-shared long-poll',
        'dutiful-shared long-poll',
        'gateway-unshared long-poll',
        'direct long-poll',
        'gateway sse',
        'nginx sse',
      ]);
      for (const row of table?.rows ?? []) {
        assert.equal(row.failure, undefined);
        assertPositive(row.p50Ms, row.p99Ms, row.storeRequestsToPark);
      }
    },
    'straight to the store each reader asks once an event': ({ 'fan-out': table }) => {
      const direct = table?.rows.find(({ id }) => id === 'direct');
      assert.equal(direct?.storeRequestsPerEvent.median, direct?.readers);
    },
  },
  memory: {
    'each step has its numbers': ({ memory }) => {
      assert.equal(memory?.steps.length, 7);
      for (const { peakBytes, afterBytes } of memory.steps) {
        assert.ok(peakBytes > 0 && afterBytes > 0);
      }
      const { shared, own, bare, duties, largeYoung } = memory;
      for (const { bytes, kernelBytes, failure } of [
        shared,
        bare.shared,
        duties.shared,
        largeYoung.shared,
        own,
        bare.own,
        duties.own,
        largeYoung.own,
      ]) {
        assert.equal(failure, undefined);
        assert.ok(bytes.atStart > 0 && bytes.parked > 0 && bytes.afterEvents > 0);
        // Few readers hide in what else the kernel does.
        assert.ok(Number.isFinite(kernelBytes));
      }
    },
  },
  'large-body': {
    'every contender brings the whole body': ({ 'large-body': table }) => {
      assert.deepEqual(table?.missing, []);
      const ids = table?.rows.map(({ id }) => id);
      assert.deepEqual(ids, [
        'gateway',
        'nginx',
        'nginx-large',
        'haproxy',
        'bare-undici',
        'direct',
      ]);
      for (const row of table?.rows ?? []) {
        assert.equal(row.failure, undefined);
        assertPositive(row.mibPerSecond);
      }
    },
  },
  commands: {
    'every way takes commands': ({ commands }) => {
      const inOrder = (rows: { id: string; connections: number }[] = []): string[] =>
        rows.map(({ id, connections }) => `${id} ${connections}`);
      const with32 = COMMAND_WAYS.map((id) => `${id} 32`);
      const with1 = COMMAND_WAYS.map((id) => `${id} 1`);
      assert.deepEqual(inOrder(commands?.rows), [...with1, ...with32]);
      assert.deepEqual(inOrder(commands?.instant), with32);
      for (const row of [...(commands?.rows ?? []), ...(commands?.instant ?? [])]) {
        assert.equal(row.failure, undefined);
        assertPositive(row.commandsPerSecond, row.p50Ms, row.p99Ms);
      }
    },
  },
  outage: {
    'every reader of every contender gets every event, or the reason is told': ({ outage }) => {
      if (outage?.rows.length === 0) {
        assert.match(outage.missing.join(), /^no network can be made here/);
        return;
      }
      assert.deepEqual(outage?.missing, []);
      assert.deepEqual(
        outage?.rows.map(({ id, live, failure, incompleteReaders }) => {
          return { id, live, failure, incompleteReaders };
        }),
        ['gateway long-poll', 'nginx long-poll', 'gateway sse', 'nginx sse'].map((row) => {
          const [id, live] = row.split(' ');
          return { id, live, failure: undefined, incompleteReaders: 0 };
        }),
      );
      for (const { medianMs, lastMs } of outage?.rows ?? []) assertPositive(medianMs, lastMs);
    },
  },
  start: {
    'there is a first answer': ({ start }) => {
      assert.ok(start);
      assertPositive(start.firstAnswerMs);
    },
  },
};

/** Checks that a part has measured everything that it should. A part that has not run is not checked. */
export async function checkMeasured(
  checks: Checks,
  part: PartName,
  measured: Partial<Measurements>,
): Promise<void> {
  if (!measured[part]) return;
  for (const [name, check] of Object.entries(CHECKS[part])) {
    await checks.check(`${part}: ${name}`, () => Promise.resolve(check(measured)));
  }
}

function assertReads(table: ReadsTable | undefined, ids: string[]): void {
  assert.deepEqual(table?.missing, []);
  assert.deepEqual(
    table?.rows.map(({ id, failure, errors }) => ({ id, failure, errors })),
    ids.map((id) => ({ id, failure: undefined, errors: 0 })),
  );
  for (const row of table?.rows ?? []) {
    assertPositive(row.requestsPerSecond, row.p50Ms, row.p99Ms);
  }
}

function assertPositive(...spreads: Spread[]): void {
  for (const { min, median, max } of spreads) {
    assert.ok(
      min > 0 && median >= min && max >= median,
      `no measurement: ${min}, ${median}, ${max}`,
    );
  }
}
