/**
 * Headers as a flat list: names and values in turn, as they are sent. A name may occur more than once. Node accepts
 * such a list. An object with names that are known only at run time would be a slow hash table in V8.
 */
export type HeaderList = string[];

/** Whether a header has a name, given in lower case. It compares the lengths first, because most names differ by that. */
export function isNamed(name: string | undefined, lowerName: string): boolean {
  return name?.length === lowerName.length && name.toLowerCase() === lowerName;
}

/** The value of a header by its name in lower case. Several lines are joined (RFC 9110 §5.3). */
export function headerValue(headers: readonly string[], lowerName: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (!isNamed(headers[i], lowerName)) continue;
    const line = headers[i + 1] ?? '';
    value = value === undefined ? line : `${value}, ${line}`;
  }
  return value;
}

/** The list with further headers, which replace those of the same name. Names are in lower case. */
export function withHeaders(
  headers: HeaderList,
  further: Readonly<Record<string, string>>,
): HeaderList {
  const list: HeaderList = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    if (!Object.hasOwn(further, name)) list.push(name, headers[i + 1] ?? '');
  }
  for (const [name, value] of Object.entries(further)) list.push(name, value);
  return list;
}
