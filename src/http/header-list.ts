/**
 * Headers as a flat list: names and values in turn, as they are sent; a name may come more than once.
 * Node takes such a list as it is. An object would have to be made with names that are only
 * known at run time, which V8 keeps in a hash table of its own.
 */
export type HeaderList = string[];

/** Whether a header has a name, given in lower case. It compares the lengths first, because most names differ by that. */
export function isNamed(name: string | undefined, lowerName: string): boolean {
  return name?.length === lowerName.length && name.toLowerCase() === lowerName;
}

/** The value of a header by its name in lower case; of several lines, all of them (RFC 9110 §5.3). */
export function headerValue(headers: readonly string[], lowerName: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (!isNamed(headers[i], lowerName)) continue;
    const line = headers[i + 1] ?? '';
    value = value === undefined ? line : `${value}, ${line}`;
  }
  return value;
}

/** The list with further headers, each in place of those of its name; names are in lower case. */
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

export type HeaderObject = Record<string, string | string[]>;

/** The same as an object, for what takes no list. */
export function headerObject(headers: HeaderList): HeaderObject {
  // A client may name a header `constructor` or `__proto__`.
  const object = Object.create(null) as HeaderObject;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    const before = object[name];
    object[name] = before === undefined ? value : [before, value].flat();
  }
  return object;
}

/** As it stands in a head. */
export function headerLine(name: string, value: string): string {
  return `${name}: ${value}\r\n`;
}
