import { describe, expect, it } from '@jest/globals';
import { answerProblem } from './usable-answer.ts';

const HISTORY = { name: 'history', credentialSetting: 'GATEWAY_HISTORY_TOKEN' } as const;
const SYNC = { name: 'sync', credentialSetting: 'GATEWAY_SYNC_SECRET' } as const;

const headers = (entries: Record<string, string>) => (name: string) => entries[name];
const NONE = headers({});

describe('answerProblem', () => {
  it.each([200, 204, 304, 307, 400, 404, 407, 409, 429, 500, 599])('lets %d pass', (status) => {
    expect(answerProblem(HISTORY, status, NONE)).toBeUndefined();
  });

  it.each(['chunked', 'Chunked'])('lets the transfer coding %s pass', (coding) => {
    expect(answerProblem(SYNC, 200, headers({ 'transfer-encoding': coding }))).toBeUndefined();
  });

  it.each(['gzip', 'gzip, chunked', ''])('has no use for the transfer coding %j', (coding) => {
    expect(answerProblem(SYNC, 200, headers({ 'transfer-encoding': coding }))).toMatchObject({
      code: 'upstream_invalid_response',
      cause: undefined,
    });
  });

  it.each([0, 99, 101, 199])('has no use for %d', (status) => {
    expect(answerProblem(SYNC, status, NONE)?.code).toBe('upstream_invalid_response');
  });

  it.each([
    [401, HISTORY],
    [403, HISTORY],
    [401, SYNC],
    [403, SYNC],
  ])(
    'takes %d for a wrong credential of the gateway, and names its setting',
    (status, upstream) => {
      expect(answerProblem(upstream, status, NONE)).toMatchObject({
        code: 'upstream_invalid_response',
        cause: {
          message:
            `the upstream refused the gateway's own credential with ${status}: ` +
            `see ${upstream.credentialSetting}`,
        },
      });
    },
  );

  it('lets a 403 pass that tells a producer of a later one, and no other answer like it', () => {
    const epoch = headers({ 'producer-epoch': '7' });
    expect(answerProblem(HISTORY, 403, epoch)).toBeUndefined();
    expect(answerProblem(HISTORY, 401, epoch)?.code).toBe('upstream_invalid_response');
    expect(answerProblem(SYNC, 403, epoch)?.code).toBe('upstream_invalid_response');
  });
});
