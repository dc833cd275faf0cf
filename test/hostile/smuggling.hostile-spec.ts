import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { exchangeRaw } from './raw-exchange.ts';
import {
  settingsFor,
  startRecordingUpstream,
  type RecordingUpstream,
} from './recording-upstream.ts';
import { SMUGGLING_FORMS } from './smuggling-forms.ts';

const BODY = 'answered';

describe('requests that say two things', () => {
  let upstream: RecordingUpstream;
  let gateway: GatewayChild;

  beforeAll(async () => {
    upstream = await startRecordingUpstream((request) => {
      request.onWhole = () => {
        request.isAnswered = true;
        const body = request.method === 'HEAD' ? '' : BODY;
        request.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${body}`);
      };
    });
    gateway = await startGatewayChild({ env: settingsFor(upstream) });
  });
  afterAll(async () => {
    await gateway?.kill();
    await upstream?.stop();
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
