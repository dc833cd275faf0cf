import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SseBoundary } from './sse-boundary.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Whether a stream that holds these bytes so far may end there. */
function isSafeAfter(text: string, safeEvent?: string): boolean {
  return new SseBoundary(safeEvent).follow(bytes(text))?.last === text.length;
}

/**
 * The same by another way: the text is split into lines and blocks as a whole, as in the HTML
 * standard, "9.2.6 Interpreting an event stream".
 */
function mayEndAfter(text: string, safeEvent?: string): boolean {
  const normalized = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const blocks = normalized.split(/(?<=^|\n)\n/);
  const rest = blocks.pop() ?? '';
  if (!/^(?::[^\n]*\n)*$/.test(rest)) return false;
  const events = blocks.flatMap((block) => {
    const fields = block.split('\n').map((line) => /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []);
    const name = fields.findLast(([, field]) => field === 'event')?.[2] ?? 'message';
    return fields.some(([, field]) => field === 'data') ? [name] : [];
  });
  return safeEvent === undefined || events.length === 0 || events.at(-1) === safeEvent;
}

/** Bytes of event streams, with more line ends, events and half events than chance would give. */
const streamText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'event: control',
        'event:data',
        'data: x',
        'data',
        'data:',
        'id: 1',
        ': ping',
      ),
      fc.constantFrom('event: ', 'event: controls', 'retry: 1', 'event : control', ':'),
      fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n', '\n\r\n'),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));
const safeEventName = fc.constantFrom(undefined, 'control');

function chunksAt(text: string, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => bytes(text.slice(from, places[i] ?? text.length)));
}

const CONTROL = 'event: control\ndata: {"streamNextOffset":"1"}\n\n';

describe('SseBoundary', () => {
  it.each([
    ['a whole event', 'data: x\n\n', true],
    ['a whole event in CR LF', 'data: x\r\n\r\n', true],
    ['a whole event in CR', 'data: x\r\r', true],
    ['an event up to the CR of its last CR LF', 'data: x\r\n\r', true],
    ['half a line', 'data: x\n\nda', false],
    ['a line of an event', 'data: x\n', false],
    ['a line of an event, in CR LF', 'data: x\r\n', false],
    ['the name of an event', 'event: control\n', false],
    // A stream that rests behind a comment was taken to rest inside an event, and broken off.
    ['a comment line', 'data: x\n\n: keep-alive\n', true],
    ['a comment and a blank line', ': keep-alive\n\n', true],
    ['half a comment', ': keep-al', false],
    ['a comment within an event', 'data: x\n: keep-alive\n', false],
  ])('says of a stream after %s whether it may end', (_, text, expected) => {
    expect(isSafeAfter(text)).toBe(expected);
  });

  it.each([
    ['data without its control event', 'event: data\ndata: x\n\n', false],
    ['a control event', `event: data\ndata: x\n\n${CONTROL}`, true],
    ['data behind a control event', `${CONTROL}event: data\ndata: x\n\n`, false],
    ['an event without a name', 'data: x\n\n', false],
    ['an event whose data says control', 'data: event: control\n\n', false],
    ['a control event without data, which is none', 'data: x\n\nevent: control\n\n', false],
    ['a comment behind data', 'data: x\n\n: keep-alive\n\n', false],
    ['a comment behind a control event', `${CONTROL}: keep-alive\n\n`, true],
    ['a control event in CR LF', 'event: control\r\ndata: {}\r\n\r\n', true],
    ['a control event without spaces', 'event:control\ndata:{}\n\n', true],
    ['a name that only begins so', 'event: controls\ndata: {}\n\n', false],
    ['a name with a second space', 'event:  control\ndata: {}\n\n', false],
    ['a name that is set anew', 'event: control\nevent: data\ndata: {}\n\n', false],
    ['a long line before the name', `data: ${'x'.repeat(200)}\nevent: control\n\n`, true],
  ])('says of a stream of the history store after %s whether it may end', (_, text, expected) => {
    expect(isSafeAfter(text, 'control')).toBe(expected);
  });

  it('finds the first and the last safe end in a chunk', () => {
    const boundary = new SseBoundary('control');
    boundary.follow(bytes('event: data\ndata: 1\n'));
    const first = `\n${CONTROL}`;
    const last = `${first}event: data\ndata: 2\n\n${CONTROL}`;
    expect(boundary.follow(bytes(`${last}event: data\ndata: 3\n\n`))).toEqual({
      first: first.length,
      last: last.length,
    });
  });

  it.each([
    ['takes the line feed of the last CR LF along', '\r\n\r\ndata: 2', 4],
    ['does not wait for it where it is not there', '\r\n\r', 3],
  ])('%s', (_, chunk, end) => {
    const boundary = new SseBoundary();
    boundary.follow(bytes('data: 1'));
    expect(boundary.follow(bytes(chunk))).toEqual({ first: end, last: end });
  });

  it('finds none in a chunk that holds none', () => {
    const boundary = new SseBoundary('control');
    boundary.follow(bytes('event: data\n'));
    expect(boundary.follow(bytes('data: 1\n\n: ping\n\nevent: con'))).toBeUndefined();
  });

  it('agrees with a parser of whole streams, however the bytes are cut', () => {
    fc.assert(
      fc.property(streamText, safeEventName, fc.array(fc.nat()), (text, safeEvent, cuts) => {
        const boundary = new SseBoundary(safeEvent);
        let from = 0;
        for (const chunk of chunksAt(text, cuts)) {
          const to = from + chunk.length;
          const ends = endsWithin(text, from, to, safeEvent);
          const { first, last } = boundary.follow(chunk) ?? {};
          expect([first, last]).toEqual([ends[0], ends.at(-1)]);
          from = to;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** The places of a chunk of a text behind which the stream may end, as the chunk counts them. */
function endsWithin(text: string, from: number, to: number, safeEvent?: string): number[] {
  const ends: number[] = [];
  for (let end = from + 1; end <= to; end++) {
    const isInCrLf = end < to && text.slice(end - 1, end + 1) === '\r\n';
    if (isInCrLf || !/[\r\n]$/.test(text.slice(0, end))) continue;
    if (mayEndAfter(text.slice(0, end), safeEvent)) ends.push(end - from);
  }
  return ends;
}
