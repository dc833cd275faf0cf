/**
 * The keys of a JSON object's top level in the order they stand, duplicates included, which
 * `JSON.parse` would hide. The text must already be known to be a valid JSON object.
 */
export function topLevelKeys(text: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  let expectsKey = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      const end = endOfString(text, i);
      // A key may be written with escapes ("\u0069d"), so it is decoded before it is compared.
      if (depth === 1 && expectsKey) keys.push(JSON.parse(text.slice(i, end + 1)) as string);
      expectsKey = false;
      i = end;
    } else if (char === '{' || char === '[') {
      depth++;
      expectsKey = depth === 1;
    } else if (char === '}' || char === ']') {
      depth--;
    } else if (char === ',' && depth === 1) {
      expectsKey = true;
    }
  }
  return keys;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}
