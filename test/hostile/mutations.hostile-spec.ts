import { beforeEach, describe, expect, it } from '@jest/globals';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { shareOf } from '../support/share.ts';
import { expectAtRest } from './gateway-state.ts';
import { onlyValue } from './message-reader.ts';
import { mutatedRequest, mutationId } from './mutated-requests.ts';
import { withCredential } from './mutations.ts';
import { ANSWER_FOR } from './pattern.ts';
import { exchangeRaw } from './raw-exchange.ts';
import { recordedGateway } from './recording-upstream.ts';
import { idIn } from './request-id.ts';

/** The number of mutated requests for each credential. */
const MUTATIONS = shareOf(10_000);
const AT_ONCE = 16;
const MAX_FAULTS = 5;
const SEED = process.env.HOSTILE_SEED ?? '';
const WRONG_KEY = 'a-key-that-is-not-known';
/** Whose an answer is where mutations have changed the id. */
const NOBODY = 'nobody';

describe(`mutated requests on connections of their own (HOSTILE_SEED=${SEED})`, () => {
  const { gateway, upstream } = recordedGateway((request) => {
    const owner = idIn(request.target) ?? NOBODY;
    const head = `HTTP/1.1 200 OK\r\n${ANSWER_FOR}: ${owner}\r\nContent-Length: ${ACCEPTED.length}\r\n\r\n`;
    request.onWhole = () => {
      request.isAnswered = true;
      request.socket.write(head + (request.method === 'HEAD' ? '' : ACCEPTED));
    };
  });
  beforeEach(() => void upstream.seen.splice(0));

  it('without a credential, or with a wrong one: nothing reaches an upstream', async () => {
    expect(await send(0, (index) => (index % 2 === 0 ? undefined : WRONG_KEY))).toEqual([]);
    expect(upstream.seen.map(({ target }) => target)).toEqual([]);
    await expectAtRest(gateway, upstream);
  });

  it('with a read token: only reads of what its prefix covers reach an upstream', async () => {
    const token = await mintReadToken(READ_TOKEN_SECRET, {
      prefix: '/streams/t/a',
      ttlSeconds: 3_600,
    });
    expect(await send(MUTATIONS, () => token)).toEqual([]);
    expect(upstream.seen.length).toBeGreaterThan(0);
    const beyond = upstream.seen.filter(
      ({ method, target }) =>
        !['GET', 'HEAD'].includes(method) || !/^\/history\/t\/a(?:[/?]|$)/.test(target),
    );
    expect(beyond.map(({ method, target }) => `${method} ${target}`)).toEqual([]);
    await expectAtRest(gateway, upstream);
  });

  it('with an API key: what reaches an upstream stays below its base and carries no credential', async () => {
    expect(await send(2 * MUTATIONS, () => API_KEY)).toEqual([]);
    expect(upstream.seen.length).toBeGreaterThan(0);
    await expectAtRest(gateway, upstream);
  });

  /** What was wrong with them; the same bytes by index, whichever connection takes it. */
  async function send(
    from: number,
    credentialOf: (index: number) => string | undefined,
  ): Promise<string[]> {
    const faults: string[] = [];
    const asked = new Map<string, number>();
    let next = from;
    const sendOnAndOn = async (): Promise<void> => {
      while (next < from + MUTATIONS && faults.length < MAX_FAULTS) {
        const index = next++;
        const credential = credentialOf(index);
        const plan = mutatedRequest(SEED, index, credential !== undefined);
        const bytes = withCredential(plan, credential);
        const { answers, parsed, fault } = await exchangeRaw(gateway.port, bytes);
        const id = idIn(bytes.toString('latin1'));
        if (id !== undefined) asked.set(id, parsed.methods.length);
        // The upstream answers everything, so nothing of the gateway's own may be a 5xx.
        const failed = answers.all.find(({ status }) => status >= 500);
        const foreign = answers.all
          .map(({ head }) => onlyValue(head, ANSWER_FOR) ?? NOBODY)
          .find((owner) => owner !== NOBODY && owner !== mutationId(index));
        const problem =
          fault ??
          (failed && `${failed.status} ${failed.text}`) ??
          (foreign && `got the answer for ${foreign}`);
        if (problem !== undefined)
          faults.push(`${index} ${JSON.stringify(bytes.toString('latin1'))}: ${problem}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendOnAndOn));
    return [...faults, ...upstream.faults.splice(0), ...split(asked)];
  }

  /** Requests of which an upstream got more than were sent. */
  function split(asked: Map<string, number>): string[] {
    const seen = Map.groupBy(upstream.seen, ({ target }) => idIn(target));
    return [...seen].flatMap(([id, requests]) => {
      if (id === undefined || requests.length <= (asked.get(id) ?? 0)) return [];
      return [`${id} became ${requests.map(({ method, target }) => `${method} ${target}`).join()}`];
    });
  }
});
