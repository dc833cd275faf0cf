import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SseBoundary } from './sse-boundary.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Whether a stream that holds these bytes so far may end there. */
function isSafeAfter(text: string, safeEvent?: string): boolean {
  const boundary = new SseBoundary(safeEvent);
  boundary.follow(bytes(text));
  return boundary.isSafe;
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
    ['nothing yet', '', true],
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

  it('finds the first safe end in a chunk, and leaves the rest', () => {
    const boundary = new SseBoundary('control');
    boundary.follow(bytes('event: data\ndata: 1\n'));
    const chunk = `\n${CONTROL}event: data\ndata: 2\n\n${CONTROL}`;
    expect(boundary.firstSafeEnd(bytes(chunk))).toBe(1 + CONTROL.length);
  });

  it('takes the line feed of the last CR LF along where it is there', () => {
    const boundary = new SseBoundary();
    boundary.follow(bytes('data: 1'));
    expect(boundary.firstSafeEnd(bytes('\r\n\r\ndata: 2'))).toBe(4);
  });

  it('does not wait for the line feed of the last CR LF where it is not', () => {
    const boundary = new SseBoundary();
    boundary.follow(bytes('data: 1'));
    expect(boundary.firstSafeEnd(bytes('\r\n\r'))).toBe(3);
  });

  it('finds none in a chunk that holds none', () => {
    const boundary = new SseBoundary('control');
    boundary.follow(bytes('event: data\n'));
    expect(boundary.firstSafeEnd(bytes('data: 1\n\n: ping\n\nevent: con'))).toBe(-1);
  });

  it('agrees with a parser of whole streams, however the bytes are cut', () => {
    fc.assert(
      fc.property(streamText, safeEventName, fc.array(fc.nat()), (text, safeEvent, cuts) => {
        const boundary = new SseBoundary(safeEvent);
        for (const chunk of chunksAt(text, cuts)) boundary.follow(chunk);
        expect(boundary.isSafe).toBe(mayEndAfter(text, safeEvent));
      }),
      { numRuns: 2_000 },
    );
  });

  it('ends where that parser would first let it, from every place of every stream', () => {
    fc.assert(
      fc.property(streamText, safeEventName, fc.array(fc.nat()), (text, safeEvent, cuts) => {
        for (let from = 0; from <= text.length; from++) {
          const expected = firstEndBehind(text, from, safeEvent);
          const found = foundEndBehind(text, from, cuts, safeEvent);
          const withLineFeed = text.slice(expected - 1, expected + 1) === '\r\n';
          expect(withLineFeed ? [expected, expected + 1] : [expected]).toContain(found);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** The first place behind `from` where a line has ended and the stream may, or -1. */
function firstEndBehind(text: string, from: number, safeEvent?: string): number {
  for (let end = from + 1; end <= text.length; end++) {
    const isSecondOfCrLf = end === from + 1 && text.slice(from - 1, end) === '\r\n';
    const endsLine = /[\r\n]$/.test(text.slice(0, end)) && !isSecondOfCrLf;
    if (endsLine && mayEndAfter(text.slice(0, end), safeEvent)) return end;
  }
  return -1;
}

function foundEndBehind(text: string, from: number, cuts: number[], safeEvent?: string): number {
  const boundary = new SseBoundary(safeEvent);
  boundary.follow(bytes(text.slice(0, from)));
  let passed = from;
  for (const chunk of chunksAt(text.slice(from), cuts)) {
    const end = boundary.firstSafeEnd(chunk);
    if (end !== -1) return passed + end;
    passed += chunk.length;
  }
  return -1;
}
