import { beforeEach, describe, expect, it } from '@jest/globals';
import { exchangeRaw } from './raw-exchange.ts';
import { recordedGateway } from './recording-upstream.ts';
import { SMUGGLING_FORMS } from './smuggling-forms.ts';

const BODY = 'answered';

describe('requests that say two things', () => {
  const { gateway, upstream } = recordedGateway((request) => {
    request.onWhole = () => {
      request.isAnswered = true;
      const body = request.method === 'HEAD' ? '' : BODY;
      request.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${body}`);
    };
  });
  beforeEach(() => {
    upstream.seen.splice(0);
    upstream.faults.splice(0);
  });

  it.each(SMUGGLING_FORMS)('$name', async ({ bytes, upstream: expected, statuses }) => {
    const { answers, fault } = await exchangeRaw(gateway.port, Buffer.from(bytes, 'latin1'));
    expect({
      upstream: upstream.seen.map(
        ({ method, target, body }) => `${method} ${target} ${body.toString('latin1')}`,
      ),
      statuses: answers.all.map(({ status }) => status),
      faults: [...upstream.faults, ...(fault === undefined ? [] : [fault])],
    }).toEqual({ upstream: expected, statuses, faults: [] });
  });

  it('have left a gateway that is alive and has nothing to complain of', () => {
    expect(gateway.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });
});
