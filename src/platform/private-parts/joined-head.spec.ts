import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { listening, type Listening } from '../../../test/support/listening.ts';
import { serverOptions } from '../server/server-options.ts';
import { HeaderBlock } from '../../proxy/headers/header-block.ts';
import { writeJoinedHead, type JoinableHead } from './joined-head.ts';

const DATE = ['date', 'Sun, 22 Nov 2026 02:38:55 GMT'];
const LENGTH = ['content-length', '5'];
const OWN = ['X-Request-Id', 'r1', 'Access-Control-Allow-Origin', '*'];

interface Situation {
  request?: string;
  status?: number;
  headers?: string[];
  /** The length of the body, where the headers do not tell. */
  contentLength?: number;
  /** Done to the response before its head is written. */
  before?: (response: ServerResponse) => void;
  body?: string;
}

type HeadWriter = (response: ServerResponse, head: JoinableHead) => boolean;

interface ListedHeaders {
  headers: Pick<HeaderBlock, 'list'>;
}

/** As `writeAnswerHead` has it without joined headers. */
function writeAsNode(
  response: ServerResponse,
  { status, own, headers, contentLength }: Omit<JoinableHead, 'headers'> & ListedHeaders,
) {
  const list = own.concat(headers.list);
  if (contentLength !== undefined) list.push('Content-Length', String(contentLength));
  response.writeHead(status, list);
  return true;
}

function messageOf(error: unknown): string {
  return (error as Error | undefined)?.message ?? 'no error';
}

describe('writeJoinedHead', () => {
  let server: Listening;
  let answer: (response: ServerResponse) => void;

  beforeAll(async () => {
    server = await listening(createServer(serverOptions(1_024), (_, response) => answer(response)));
  });
  afterAll(() => server.stop());

  /** All that comes back for two requests on one connection, and whether the writer has written. */
  async function bytesOf(write: HeadWriter, situation: Situation) {
    const { request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', body = 'hello' } = situation;
    const head: JoinableHead = {
      status: situation.status ?? 200,
      own: OWN,
      headers: new HeaderBlock(situation.headers ?? [...DATE, ...LENGTH]),
      contentLength: situation.contentLength,
    };
    const hasWritten: boolean[] = [];
    answer = (response) => {
      situation.before?.(response);
      const isJoined = write(response, head);
      hasWritten.push(isJoined);
      expect(isJoined).toBe(response.headersSent);
      if (!isJoined) writeAsNode(response, head);
      response.end(body, 'latin1');
    };
    const socket = connect(server.port, '127.0.0.1');
    socket.end(request + request, 'latin1');
    return { bytes: await text(socket.setEncoding('latin1')), hasWritten };
  }

  const joined: Record<string, Situation> = {
    'an answer whose headers tell its length': {},
    'one whose length is told beside them': { headers: DATE, contentLength: 5 },
    'an empty one': { headers: [...DATE, 'content-length', '0'], body: '' },
    'a HEAD': { request: 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n', body: '' },
    'a client of HTTP/1.0 that keeps its connection': {
      request: 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
    },
    'an error': { status: 404 },
    'a status without a name': { status: 299 },
    'bytes beyond ASCII': { headers: [...DATE, ...LENGTH, 'x-name', 'Zo\u00eb \u00ff'] },
    'a header that comes twice': { headers: [...DATE, ...LENGTH, 'link', '<a>', 'link', '<b>'] },
    'a header that Node treats apart': {
      headers: [...DATE, 'content-disposition', 'attachment; filename="\u00eb"', ...LENGTH],
    },
  };

  it.each(Object.entries(joined))('writes the bytes that Node would: %s', async (_, situation) => {
    const { bytes, hasWritten } = await bytesOf(writeJoinedHead, situation);
    expect(hasWritten).toEqual([true, true]);
    expect(bytes).toBe((await bytesOf(writeAsNode, situation)).bytes);
    expect(bytes.match(/HTTP\/1\.1 /g)).toHaveLength(2);
  });

  const left: Record<string, Situation> = {
    'an answer of unknown length': { headers: DATE },
    'one without a date': { headers: LENGTH },
    'one without a body': { status: 204, headers: DATE, body: '' },
    'one that has not changed': { status: 304, body: '' },
    'the last one of its connection': {
      request: 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    },
    'a client of HTTP/1.0': { request: 'GET / HTTP/1.0\r\n\r\n' },
    'headers that were set before, as when the process ends': {
      before: (response) => response.setHeader('Connection', 'close'),
    },
    'a header that frames the answer': { headers: [...DATE, 'transfer-encoding', 'chunked'] },
  };

  it.each(Object.entries(left))('leaves to Node: %s', async (_, situation) => {
    const { hasWritten } = await bytesOf(writeJoinedHead, situation);
    expect(hasWritten).not.toContain(true);
    expect(hasWritten.length).toBeGreaterThan(0);
  });

  it('writes the bytes that Node would, whatever the headers', async () => {
    const name = fc.stringMatching(/^[!#$%&'*+.^_`|~A-Za-z0-9-]{1,20}$/);
    const value = fc.stringMatching(/^[\t\x20-\x7e\x80-\xff]{0,60}$/);
    const header = fc.tuple(name, value).filter(([n]) => !/^(content-length|date)$/i.test(n));
    await fc.assert(
      fc.asyncProperty(fc.array(header, { maxLength: 8 }), async (further) => {
        const situation = { headers: [...DATE, ...LENGTH, ...further.flat()] };
        const { bytes } = await bytesOf(writeJoinedHead, situation);
        expect(bytes).toBe((await bytesOf(writeAsNode, situation)).bytes);
      }),
    );
  });

  it.each([
    ['a line end', ['x-a', 'b\r\nx-c: d']],
    ['a control character', ['x-a', '\u0001']],
    ['a character beyond latin1', ['x-a', '\u20ac']],
    ['a name that is none', ['x a', 'b']],
  ])('refuses %s, as Node does, and has written nothing', async (_, header) => {
    const list = [...DATE, ...LENGTH, ...header];
    const head = { status: 200, own: OWN, contentLength: undefined };
    const thrown: Partial<Error>[] = [];
    answer = (response) => {
      try {
        writeJoinedHead(response, { ...head, headers: new HeaderBlock(list) });
      } catch (error) {
        thrown.push(error as Error);
      }
      const asNode = (): boolean => writeAsNode(response, { ...head, headers: { list } });
      expect(asNode).toThrow(messageOf(thrown[0]?.cause));
      response.end('unharmed');
    };
    const response = await fetch(server.url);
    expect(await response.text()).toBe('unharmed');
    expect(thrown).toMatchObject([{ code: 'upstream_invalid_response' }]);
  });
});
