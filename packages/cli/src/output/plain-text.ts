/**
 * Makes foreign text safe to print: characters that control a terminal or reorder a line become escapes. Line ends
 * and tabs stay.
 */
export function plainText(text: string): string {
  // The control characters C0, DEL and C1, and the bidirectional ones (CVE-2021-42574).
  return text.replace(
    // oxlint-disable-next-line no-control-regex -- these are the ones to find
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The same as a single line. */
export function plainLine(text: string): string {
  return plainText(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');
}
