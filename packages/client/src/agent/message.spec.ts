import { describe, expect, it } from '@jest/globals';
import { readMessage } from './message.ts';

function read(body: string) {
  return readMessage(Buffer.from(body));
}

const hello = { message: { content: [{ type: 'text', text: 'hello' }], text: 'hello' } };

describe('readMessage', () => {
  it('reads the canonical message', () => {
    expect(read('{"kind":"message","content":[{"type":"text","text":"hello"}]}')).toEqual(hello);
  });

  it.each([
    '{"content":[{"type":"text","text":"hello"}]}',
    '{"content":"hello"}',
    '"hello"',
    'hello',
  ])('reads the shorthand %s', (body) => {
    expect(read(body)).toEqual(hello);
  });

  it('keeps parts that are no text, and reads the text of those that are', () => {
    const content = [
      { type: 'image', url: 'x' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 7 },
      { type: 'text', text: 'b' },
    ];
    expect(read(JSON.stringify({ content }))).toEqual({ message: { content, text: 'a\nb' } });
  });

  it.each([
    ['', 'the message is empty'],
    [' \n ', 'the message is empty'],
    ['{"kind":', 'the message is broken JSON'],
    ['[1,', 'the message is broken JSON'],
    ['"abc', 'the message is broken JSON'],
    ['42', 'the message must be an object with content, or a text'],
    ['null', 'the message must be an object with content, or a text'],
    ['[{"type":"text"}]', 'the message must be an object with content, or a text'],
    ['{}', 'the content of a message must be a list of parts, or a text'],
    ['{"content":[{}]}', 'the content of a message must be a list of parts, or a text'],
    ['{"content":[1]}', 'the content of a message must be a list of parts, or a text'],
    ['{"kind":"other","content":[]}', 'the kind of a message must be "message"'],
  ])('says what is wrong with %j', (body, problem) => {
    expect(read(body)).toEqual({ problem });
  });

  it('says what is wrong with bytes that are no UTF-8', () => {
    expect(readMessage(Uint8Array.of(0xff, 0xfe))).toEqual({
      problem: 'the message is neither JSON nor text in UTF-8',
    });
  });

  // JSON.parse takes it and JSON.stringify throws: retried, such a message would block its entity.
  it.each([65, 100_000])('refuses content nested %d deep', (depth) => {
    const nested = '['.repeat(depth) + ']'.repeat(depth);
    expect(read(`{"content":[{"type":"x","x":${nested}}]}`)).toEqual({
      problem: 'the content of the message is nested too deep',
    });
  });
});
