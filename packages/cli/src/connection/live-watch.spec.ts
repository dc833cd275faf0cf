import { describe, expect, it } from '@jest/globals';
import { APIError, type LiveState } from '../../../client/src/index.ts';
import type { Connection } from './connection.ts';
import { LiveWatch } from './live-watch.ts';

const LIVE: LiveState = { name: 'live' };
const CONNECTING: LiveState = { name: 'connecting' };
const TRYING = '502 upstream_unreachable. The store is away. Trying again.';

function waiting(): LiveState {
  const error = new APIError('The store is away.', { status: 502, code: 'upstream_unreachable' });
  return { name: 'waiting', error, retryInMs: 1 };
}

describe('a watch of a live read', () => {
  // A link that broke within each answer made it say both sentences for each.
  it.each<[string, (LiveState | 'data')[], string[]]>([
    ['nothing while all is well', [CONNECTING, 'data', LIVE, 'data'], []],
    [
      'both once, however often a try fails',
      [waiting(), waiting(), LIVE],
      [TRYING, 'Connected again.'],
    ],
    [
      'both once for tries that break off in the middle of the data',
      [waiting(), CONNECTING, 'data', waiting(), CONNECTING, 'data', 'data', LIVE, 'data', LIVE],
      [TRYING, 'Connected again.'],
    ],
    [
      'both again for the next outage',
      [LIVE, waiting(), LIVE, waiting(), LIVE],
      [TRYING, 'Connected again.', TRYING, 'Connected again.'],
    ],
  ])('says %s', (_, events, said) => {
    const says: string[] = [];
    const watch = new LiveWatch({ url: 'http://gateway' } as Connection, {
      firstContactMs: 60_000,
      notices: { say: (text) => void says.push(text) },
      interrupted: new AbortController().signal,
    });

    for (const event of events) {
      if (event === 'data') watch.answered();
      else watch.onState(event);
    }

    expect(says).toEqual(said);
  });
});
