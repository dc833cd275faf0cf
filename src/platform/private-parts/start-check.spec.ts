import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { HTTPParser } from 'node:_http_common';
import { AnswerParser } from './answer-parser.ts';
import { privatePartsProblem } from './start-check.ts';

afterEach(() => void jest.restoreAllMocks());

describe('privatePartsProblem', () => {
  it('is none on a Node that the tests run on', async () => {
    await expect(privatePartsProblem()).resolves.toBeUndefined();
  });

  it('names a parser that does another thing, or throws', async () => {
    const problem = `does not work on this Node, ${process.version}: its HTTP parser is another than expected`;
    const parse = jest.spyOn(AnswerParser.prototype, 'parse').mockReturnValue(undefined);
    await expect(privatePartsProblem()).resolves.toBe(problem);
    parse.mockImplementation(() => {
      throw new TypeError('this.parser.execute is not a function');
    });
    await expect(privatePartsProblem()).resolves.toBe(problem);
  });

  // A piece that only points into the buffer of all connections would change with the next read of any of them.
  it('names a parser whose pieces of a body do not survive its next read', async () => {
    const execute = Reflect.get(HTTPParser.prototype, 'execute');
    jest.spyOn(HTTPParser.prototype, 'execute').mockImplementation(function (
      this: HTTPParser,
      bytes,
    ) {
      const onBody = this[HTTPParser.kOnBody] as (piece: Buffer) => void;
      const received = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      this[HTTPParser.kOnBody] = (piece: Buffer) => {
        const at = received.indexOf(piece);
        onBody(received.subarray(at, at + piece.length));
      };
      try {
        return execute.call(this, bytes);
      } finally {
        this[HTTPParser.kOnBody] = onBody as never;
      }
    });
    await expect(privatePartsProblem()).resolves.toBe(
      `does not work on this Node, ${process.version}: its HTTP parser is another than expected`,
    );
  });
});
