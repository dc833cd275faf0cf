import { describe, expect, it } from '@jest/globals';
import { durableStreams } from './protocols/durable-streams.ts';
import { electric } from './protocols/electric.ts';
import { answerFault, RefusedCredential, UnusableAnswer } from './usable-answer.ts';

const HISTORY = { protocol: durableStreams, credentialSetting: 'GATEWAY_HISTORY_TOKEN' } as const;
const SYNC = { protocol: electric, credentialSetting: 'GATEWAY_SYNC_SECRET' } as const;

const headers = (entries: Record<string, string>) => (name: string) => entries[name];
const NONE = headers({});

describe('answerFault', () => {
  it.each([200, 204, 304, 307, 400, 404, 407, 409, 429, 500, 599])('lets %d pass', (status) => {
    expect(answerFault(HISTORY, status, NONE)).toBeUndefined();
  });

  it.each(['chunked', 'Chunked'])('lets the transfer coding %s pass', (coding) => {
    expect(answerFault(SYNC, 200, headers({ 'transfer-encoding': coding }))).toBeUndefined();
  });

  it.each(['gzip', 'gzip, chunked', ''])('has no use for the transfer coding %j', (coding) => {
    expect(answerFault(SYNC, 200, headers({ 'transfer-encoding': coding }))).toEqual(
      new UnusableAnswer(`the upstream answered in the transfer coding ${coding}`),
    );
  });

  it.each([0, 99, 101, 199])('has no use for %d', (status) => {
    expect(answerFault(SYNC, status, NONE)).toBeInstanceOf(UnusableAnswer);
  });

  it.each([
    [401, HISTORY],
    [403, HISTORY],
    [401, SYNC],
    [403, SYNC],
  ])(
    'takes %d for a wrong credential of the gateway, and names its setting',
    (status, upstream) => {
      expect(answerFault(upstream, status, NONE)).toEqual(
        new RefusedCredential(status, upstream.credentialSetting),
      );
    },
  );

  it('lets a 403 pass that tells a producer of a later one, and no other answer like it', () => {
    const epoch = headers({ 'producer-epoch': '7' });
    expect(answerFault(HISTORY, 403, epoch)).toBeUndefined();
    expect(answerFault(HISTORY, 401, epoch)).toBeInstanceOf(RefusedCredential);
    expect(answerFault(SYNC, 403, epoch)).toBeInstanceOf(RefusedCredential);
  });
});
