import { describe, expect, it } from '@jest/globals';
import type { Spread } from '../measure/statistics.ts';
import type { Measurements } from '../results.ts';
import { goals } from './goals.ts';

const of = (median: number): Spread => ({ median, min: median, max: median });

const read = (id: string, connections: number, perSecond: number) => ({
  id,
  label: id,
  connections,
  requestsPerSecond: of(perSecond),
  p50Ms: of(1),
  p99Ms: of(2),
  cpuUsPerRequest: of(10),
  errors: 0,
});

const fan = (id: string, requests: number, cpuUs: number, p99Ms: number) => ({
  id,
  label: id,
  readers: 5_000,
  live: 'long-poll' as const,
  p50Ms: of(1),
  p99Ms: of(p99Ms),
  storeRequestsToPark: of(1),
  storeRequestsPerEvent: of(requests),
  contenderCpuUs: of(cpuUs / 2),
  storeCpuUs: of(cpuUs / 2),
});

const NOTHING = { rows: [], missing: [] };

const verdicts = (measured: Partial<Measurements>) =>
  goals(measured).map(({ what, measured: value, isReached }) => [what, value, isReached]);

describe('goals', () => {
  it('of plain reads compare with nginx and with @fastify/http-proxy, before each upstream', () => {
    const rows = [
      read('gateway', 64, 20_000),
      read('nginx', 64, 50_000),
      read('bare-undici', 64, 30_000),
      read('fastify-http-proxy', 64, 16_000),
      read('fast-proxy', 64, 25_000),
      read('gateway', 256, 1),
    ];
    expect(verdicts({ plain: { node: { rows, missing: [] }, nginx: NOTHING } })).toEqual([
      ['plain reads, 64 connections, Node upstream: rate ÷ nginx', '0.40', true],
      ['plain reads, 64 connections, Node upstream: rate ÷ @fastify/http-proxy', '1.25', false],
    ]);
    const [first] = verdicts({ plain: { node: NOTHING, nginx: { rows, missing: [] } } });
    expect(first).toEqual([
      'plain reads, 64 connections, nginx upstream: rate ÷ nginx',
      '0.40',
      true,
    ]);
  });

  it('show the values of the bare Node servers, where there are any', () => {
    const rows = [
      fan('gateway', 1, 50, 80),
      fan('nginx', 1, 100, 100),
      fan('bare-shared', 1, 30, 90),
      fan('dutiful-shared', 1, 40, 95),
    ];
    const reads = [read('gateway', 64, 20_000), read('nginx', 64, 50_000)];
    const table = {
      rows: [...reads, read('bare-shared', 64, 40_000), read('dutiful-shared', 64, 35_000)],
      missing: [],
    };
    const measured = {
      'same-url': { node: table, nginx: NOTHING, store: { rows: reads, missing: [] } },
      'fan-out': { rows, missing: [] },
    };
    expect(goals(measured).map(({ bare, duties }) => [bare, duties])).toEqual([
      ['0.80', '0.70'],
      ['', ''],
      ['', ''],
      ['0.30', '0.40'],
      ['0.90', '0.95'],
    ]);
  });

  it('are neither reached nor missed where there is nothing to compare with', () => {
    const table = { rows: [read('gateway', 64, 20_000)], missing: [] };
    expect(verdicts({ 'same-url': { node: table, nginx: NOTHING, store: NOTHING } })).toEqual([
      ['one URL, 64 connections, Node upstream: rate ÷ nginx', '–', undefined],
    ]);
  });

  it('of fan-out count the store in, and its requests', () => {
    const rows = [fan('gateway', 1, 50, 80), fan('nginx', 5_000, 100, 100)];
    expect(verdicts({ 'fan-out': { rows, missing: [] } })).toEqual([
      ['fan-out to 5,000 readers: requests to the store an event', '1.00', true],
      ['fan-out to 5,000 readers: CPU with the store ÷ nginx with the store', '0.50', false],
      ['fan-out to 5,000 readers: p99 ÷ nginx', '0.80', false],
    ]);
  });

  it('of memory look at the most that was held', () => {
    const mib = (count: number) => count * 1_048_576;
    const bytes = { atStart: mib(100), parked: mib(300), afterEvents: mib(401) };
    const step = (count: number) => ({ name: '', peakBytes: mib(900), afterBytes: mib(count) });
    const parked = { label: 'agent gateway', readers: 10_000, bytes, kernelBytes: mib(40) };
    const memory = {
      shared: parked,
      own: { ...parked, readers: 5_000, bytes: { ...bytes, afterEvents: mib(350) } },
      bare: { shared: parked, own: parked },
      duties: { shared: parked, own: parked },
      largeYoung: { shared: parked, own: parked },
      steps: [step(200), step(260), step(240)],
    };
    expect(verdicts({ memory })).toEqual([
      ['memory: 10,000 parked readers on one timeline, after events', '401 MiB', false],
      ['memory: 5,000 parked readers each on its own timeline, after events', '350 MiB', true],
      [
        'memory: most at rest after 1 GiB, a slow reader and a million requests ÷ after the warm-up',
        '1.30',
        false,
      ],
    ]);
  });

  it('of commands take the rate of many and the added time of one', () => {
    const row = (
      id: 'gateway' | 'bare-undici' | 'direct',
      connections: number,
      perSecond: number,
      p50Ms: number,
    ) => ({
      id,
      label: id,
      connections,
      commandsPerSecond: of(perSecond),
      p50Ms: of(p50Ms),
      p99Ms: of(9),
      cpuUsPerCommand: id === 'direct' ? null : of(70),
    });
    const rows = [
      row('gateway', 1, 500, 2.5),
      row('direct', 1, 600, 1.75),
      row('gateway', 32, 1_200, 20),
      row('direct', 32, 2_000, 15),
      row('bare-undici', 32, 1_250, 19),
    ];
    const instant = [{ ...row('gateway', 32, 7_000, 4), cpuUsPerCommand: of(110) }];
    expect(verdicts({ commands: { rows, instant } })).toEqual([
      ['commands, 32 at once: rate ÷ direct', '0.60', true],
      ['commands, 32 at once: rate ÷ bare Node and undici', '0.96', true],
      ['commands, one at a time: added at the median', '0.75 ms', false],
      [
        'commands, 32 at once, instant upstream: processor time of the gateway for one',
        '110 µs',
        false,
      ],
    ]);
  });
});
