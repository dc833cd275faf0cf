import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scopeCovers } from './path-scope.ts';
import { SCOPES, type ApiKey } from './api-key.ts';
import { parseApiKeys, type ListForm } from './secret-lists.ts';

/**
 * Slips of the pen in a list of API keys. Each of them once made a key, or gave one every scope, without a word: a comma
 * for a plus in paths= made `/streams/t/partners` a key that opened everything.
 */

/** What separates, joins or quotes in a list, and what a pen, an editor or a shell puts in the place of it. */
const MARKS = [
  [' ', '  ', '\t', '\n', '\r', '\r\n', '\n  ', ' \\\n  ', '\u00a0', '\u2028', '\uFEFF'],
  [',', ', ', '+', ' + ', '=', ' = ', ';', '|', '&', '#', ' #', '\0'],
  ['"', "'", '`', '“', '\\', '$', '!', '*', '(', '<', '{', '['],
].flat();
const IS_MARK = /[\s,+=;#"':]/;

const key = fc.stringMatching(/^k[abcXYZ0189._~+/-]{17,40}$/);
const digest = fc
  .nat()
  .map((number) => `sha256:${createHash('sha256').update(`${number}`).digest('hex')}`);
const segment = fc.stringMatching(/^[abz09._~@-]{1,20}$/);
const path = fc
  .array(
    segment.filter((text) => !/^\.\.?$/.test(text)),
    { maxLength: 4 },
  )
  .map((segments) => ['/streams', ...segments].join('/'));
const scopes = fc.option(fc.subarray([...SCOPES], { minLength: 1 }), { nil: undefined });
const paths = fc.option(fc.array(path, { minLength: 1, maxLength: 3 }), { nil: undefined });

const entry = fc
  .record({ key: fc.oneof(key, digest), scopes, paths })
  .map(({ key: first, scopes: opened, paths: narrowed }) => {
    const isOfStreams = opened === undefined || opened.some((scope) => scope.startsWith('streams'));
    return [
      first,
      'name=NAME',
      ...(opened ? [`scopes=${opened.join('+')}`] : []),
      ...(narrowed && isOfStreams ? [`paths=${narrowed.join('+')}`] : []),
    ];
  })
  .chain(([first = '', ...attributes]) =>
    fc
      .shuffledSubarray(attributes, { minLength: attributes.length })
      .map((shuffled) => [first, ...shuffled].join(' ')),
  );

const NAMES = ['agents', 'back-end', 'console', 'deploy-2026'];
const COMMENTS = [
  '',
  '#',
  '# The keys of production; see the-page-on-rotating-them',
  '#the-keys-of-production',
  '# scopes=streams:read',
  '# one more: commands+streams:read, /streams/t/acme',
];
const entries = fc
  .array(entry, { minLength: 1, maxLength: NAMES.length })
  .map((list) => list.map((text, index) => text.replace('NAME', NAMES[index] ?? '')));
const variable = entries.chain((list) =>
  fc.constantFrom(',', ', ', ',\n  ', ',,').map((comma) => list.join(comma)),
);
const file = entries.chain((list) =>
  fc
    .tuple(
      fc.array(fc.constantFrom(...COMMENTS), { minLength: list.length, maxLength: list.length }),
      fc.constantFrom('\n', '\r\n', '\n\n'),
      fc.constantFrom('', '\n'),
    )
    .map(([comments, end, last]) =>
      comments
        .flatMap((comment, index) => [comment, list[index] ?? ''])
        .join(end)
        .concat(last),
    ),
);

/** Every text that one slip makes of another one. */
function* slips(text: string): Generator<string> {
  for (let at = 0; at <= text.length; at++) {
    const [before, after] = [text.slice(0, at), text.slice(at)];
    for (const mark of MARKS) yield before + mark + after;
    if (!IS_MARK.test(after.charAt(0))) continue;
    // A mark is missing, stands twice, or another one stands in its place.
    yield before + after.slice(1);
    yield before + after.charAt(0) + after;
    for (const mark of MARKS) yield before + mark + after.slice(1);
  }
  for (const quote of ['"', "'"]) {
    yield quote + text + quote;
    yield text.replace(/(?<==)\S+/, (value) => quote + value + quote);
    yield text.replace(/\w+=\S+/, (attribute) => quote + attribute + quote);
  }
}

/** Whether `narrow` opens nothing that `wide` does not open. */
function isWithin(narrow: ApiKey, wide: ApiKey): boolean {
  const { paths: within } = wide;
  if (![...narrow.scopes].every((scope) => wide.scopes.has(scope))) return false;
  if (!within || ![...narrow.scopes].some((scope) => scope.startsWith('streams:'))) return true;
  return narrow.paths?.every((segments) => scopeCovers(within, `/${segments.join('/')}`)) ?? false;
}

describe.each<[ListForm, fc.Arbitrary<string>]>([
  ['variable', variable],
  ['file', file],
])('one slip in a list of API keys in a %s', (form, list) => {
  it('is a mistake, or opens nothing that the list did not open by the same name', () => {
    fc.assert(
      fc.property(list, (text) => {
        const good = parseApiKeys(text, form);
        fc.pre(good.problems.length === 0);
        const byName = new Map(good.entries.map((one) => [one.name, one]));
        for (const slip of slips(text)) {
          const parsed = parseApiKeys(slip, form);
          // One wrong entry refuses the list.
          if (parsed.problems.length > 0) continue;
          for (const one of parsed.entries) {
            const meant = byName.get(one.name);
            if (!meant || !isWithin(one, meant)) throw new Error(`${one.name}: ${slip}`);
          }
        }
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });
});

describe('the slips', () => {
  const KEY = 'agk_0123456789abcdef';
  const LIST = `${KEY} name=agents scopes=streams:read paths=/streams/t/acme+/streams/t/partners`;

  it.each<[string, ListForm, string]>([
    ['a comma for a plus', 'variable', LIST.replace('+', ',')],
    ['a comma for a plus', 'file', LIST.replace('+', ',')],
    ['a wrap before scopes=', 'file', LIST.replace(' scopes', '\n  scopes')],
    ['a wrap before name=', 'file', LIST.replace(' name', '\nname')],
    ['a wrap inside the paths', 'file', LIST.replace('+', '+\n')],
    ['quotes around the entry', 'file', `"${LIST}"`],
    ['a missing quote', 'file', LIST.replace('paths=', 'paths="')],
    ['a digest in capitals', 'file', LIST.replace(KEY, `SHA256:${'5E'.repeat(32)}`)],
    ['a comment at the end of the line', 'file', `${LIST} # the agents`],
    ['a comment in a variable', 'variable', `# the-keys-of-production\n${LIST}`],
  ])('%s in a %s refuse the list, without its text', (_, form, text) => {
    const { problems } = parseApiKeys(text, form);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join()).not.toMatch(/agk_|acme|partners|5E5E|production/);
  });
});
