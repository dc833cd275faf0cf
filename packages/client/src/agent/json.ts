/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/**
 * The deepest accepted nesting. `JSON.parse` accepts any depth, but `JSON.stringify` overflows the stack at some
 * thousands: such a value would fail at every attempt to store it.
 */
const MAX_DEPTH = 64;

/** @throws SyntaxError for what is no JSON, TypeError for what is no UTF-8. */
export function parseJson(bytes: Uint8Array): Json {
  return JSON.parse(decodeText(bytes)) as Json;
}

/** @throws TypeError for what is no UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** What JSON keeps of a value. @throws an Error for a function, a BigInt, a circle, and for what is nested more than 64 levels deep. */
export function jsonOf(value: unknown): Json {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`a ${typeof value} is no JSON`);
  const json = JSON.parse(text) as Json;
  if (isTooDeep(json)) throw new TypeError('it is nested too deep');
  return json;
}

/** Whether a value is nested more than 64 levels deep. */
export function isTooDeep(value: Json, levelsLeft = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levelsLeft === 0) return true;
  return Object.values(value).some((inner) => isTooDeep(inner, levelsLeft - 1));
}

/** Whether a value is a JSON object: no array and not null. */
export function isObject(value: unknown): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values are the same JSON, in whatever order the members of an object stand. */
export function isSameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return (
      one.length === other.length && one.every((item, index) => isSameJson(item, other[index]))
    );
  }
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  );
}
