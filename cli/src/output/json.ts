type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
type JsonOfToday = Pick<JSON, 'stringify'> & {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};
// TypeScript's library does not know these two yet (ECMA-262, "JSON.parse source text access").
const json = JSON as unknown as JsonOfToday;

/**
 * Parses JSON such that `compactJson` writes every number as it came: a JavaScript number would lose
 * what is beyond 2^53. Throws `SyntaxError`.
 */
export function parseExactly(text: string): unknown {
  return json.parse(text, (_, value, context) => {
    const source = context?.source;
    const isChanged = typeof value === 'number' && source !== undefined && `${value}` !== source;
    return isChanged ? json.rawJSON(source) : value;
  });
}

/** One line of JSON that no terminal takes for a command: `JSON.stringify` leaves DEL and C1 as they are. */
export function compactJson(value: unknown): string {
  const text = json.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? json.rawJSON(`${part}`) : part,
  );
  return (text ?? 'null').replace(
    /[\u007f-\u009f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
}
