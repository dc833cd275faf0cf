type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
type JsonOfToday = Pick<JSON, 'stringify'> & {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};
// TypeScript's library lacks these two (ECMA-262, "JSON.parse source text access").
const json = JSON as unknown as JsonOfToday;

/**
 * Parses JSON so that `compactJson` can write every number unchanged: JavaScript numbers lose digits above 2^53.
 * Throws `SyntaxError`.
 */
export function parseExactly(text: string): unknown {
  return json.parse(text, (_, value, context) => {
    const source = context?.source;
    const isChanged = typeof value === 'number' && source !== undefined && `${value}` !== source;
    return isChanged ? json.rawJSON(source) : value;
  });
}

/** Writes one line of JSON that is safe on a terminal: `JSON.stringify` does not escape DEL, C1 and the bidirectional characters (CVE-2021-42574). */
export function compactJson(value: unknown): string {
  const text = json.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? json.rawJSON(`${part}`) : part,
  );
  return (text ?? 'null').replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
