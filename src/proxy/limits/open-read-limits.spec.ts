import { beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { thrown } from '../../../test/support/thrown.ts';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import type { GatewayConfig } from '../../contract/gateway-config.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { Telemetry } from '../../platform/telemetry/telemetry.ts';
import type { Caller } from '../../platform/server/caller.ts';
import { OpenReadLimits } from './open-read-limits.ts';
import { stateOf } from '../../../test/support/state-of.ts';

const credential = (id: string): Caller => ({ id, isSubject: false });
const subject = (id: string): Caller => ({ id, isSubject: true });

describe('OpenReadLimits', () => {
  /** The subjects that reached their cap. */
  let atCap: [string, number][];

  beforeEach(() => {
    atCap = [];
  });

  function limitsOf(
    { total = 10, perCredential = 10, perSubject = 10 } = {},
    isClosed = false,
  ): OpenReadLimits {
    const limits = {
      maxOpenReads: total,
      maxOpenReadsPerCredential: perCredential,
      maxOpenReadsPerSubject: perSubject,
    };
    const held = new HeldBytes(1_000);
    held.isClosed = isClosed;
    const write = (line: string): void => {
      const { subSha256, openReads } = JSON.parse(line) as { subSha256: string; openReads: number };
      atCap.push([subSha256, openReads]);
    };
    return new OpenReadLimits(
      { limits } as GatewayConfig,
      held,
      pino({}, { write }),
      new Telemetry(),
    );
  }
  const refusal = (limits: OpenReadLimits, caller: Caller): GatewayError | undefined =>
    thrown(GatewayError, () => limits.enter(caller));
  const reason = (limits: OpenReadLimits, caller: Caller) => refusal(limits, caller)?.reason;

  it('turns a read away beyond the cap of all, and lets one in when a place is given back', () => {
    const limits = limitsOf({ total: 2 });
    limits.enter(credential('a'));
    limits.enter(subject('b'));
    expect(refusal(limits, credential('c'))).toMatchObject({
      code: 'overloaded',
      reason: 'open_reads',
    });
    expect(reason(limits, subject('c'))).toBe('open_reads');
    limits.leave(credential('a'));
    expect(refusal(limits, credential('c'))).toBeUndefined();
  });

  it('turns a read away beyond the cap of its credential, and not those of others', () => {
    const limits = limitsOf({ perCredential: 1 });
    limits.enter(credential('a'));
    expect(reason(limits, credential('a'))).toBe('open_reads_per_credential');
    expect(refusal(limits, credential('b'))).toBeUndefined();
    expect(refusal(limits, subject('a'))).toBeUndefined();
    expect(atCap).toEqual([]);
  });

  it('turns a read away beyond the cap of its subject, says how many are open, and lets others in', () => {
    const limits = limitsOf({ perSubject: 2, perCredential: 1 });
    limits.enter(subject('a'));
    limits.enter(subject('a'));
    const refused = refusal(limits, subject('a'));
    expect(refused).toMatchObject({
      code: 'overloaded',
      reason: 'open_reads_per_subject',
      headers: { 'Retry-After': '1' },
    });
    expect(refused?.message).toBe(
      'The subject of this read token has 2 reads open, as many as one may have. Mint the tokens of each user with a sub of that user alone, and close reads that nobody needs; try again in a moment.',
    );
    expect(refusal(limits, subject('b'))).toBeUndefined();
    expect(refusal(limits, credential('a'))).toBeUndefined();
    limits.leave(subject('a'));
    expect(refusal(limits, subject('a'))).toBeUndefined();
  });

  it('says once that a subject is at its cap, until it has had fewer than half of it open', () => {
    const limits = limitsOf({ perSubject: 4 });
    const a = subject('a');
    for (let i = 0; i < 4; i++) limits.enter(a);
    expect(atCap).toEqual([]);
    refusal(limits, a);
    // It swings at the cap.
    limits.leave(a);
    limits.leave(a);
    limits.enter(a);
    limits.enter(a);
    refusal(limits, a);
    expect(atCap).toEqual([['a', 4]]);
    for (let i = 0; i < 3; i++) limits.leave(a);
    for (let i = 0; i < 3; i++) limits.enter(a);
    refusal(limits, a);
    expect(atCap).toEqual([
      ['a', 4],
      ['a', 4],
    ]);
  });

  it('turns reads away while memory is short', () => {
    expect(reason(limitsOf({}, true), credential('a'))).toBe('memory');
  });

  it('counts the reads that are open, and the most of one credential and of one subject', () => {
    const limits = limitsOf({});
    for (const id of ['a', 'a', 'b']) limits.enter(credential(id));
    for (const id of ['a', 'b', 'b', 'b']) limits.enter(subject(id));
    limits.leave(credential('a'));
    limits.leave(subject('b'));
    expect(stateOf(limits, 'gateway_open_reads')).toBe(5);
    expect([
      stateOf(limits, 'gateway_open_reads_of_busiest_credential'),
      stateOf(limits, 'gateway_open_reads_of_busiest_subject'),
    ]).toEqual([1, 2]);
  });
});
