/**
 * Checks a raw request path that is forwarded unchanged. A path that two servers could read differently is refused
 * and never normalized: an upstream that resolves `/t/x/%2e%2e/y` to `/t/y` would serve a path that nobody has
 * checked (CVE-2021-29492, CVE-2021-21322).
 *
 * @returns what is wrong, or undefined if nothing is.
 */
export function pathProblem(path: string): string | undefined {
  // RFC 3986 §3.3: a path consists of visible ASCII. Node passes on bytes of 0x80 and above unchanged.
  if (/[^\x21-\x7e]/.test(path)) return 'holds a character that must be percent-encoded';
  if (path.includes('\\')) return 'holds a backslash';
  if (path.includes('#')) return 'holds a "#", which must be written %23';
  if (path.includes('//')) return 'holds an empty segment ("//")';
  if (!path.includes('%')) return path.includes('/.') ? dotSegmentProblem(path) : undefined;

  const decoded = uriDecoded(path);
  if (decoded === undefined) return 'holds percent-encoding that is broken or not UTF-8';
  return (
    hiddenProblem(path, decoded) ??
    // An upstream may decode once more: `%252e%252e` would then be `..`.
    (decoded.includes('%') ? hiddenProblem(decoded, decodeLeniently(decoded)) : undefined)
  );
}

/** The problem that only decoding shows, such as an encoded slash. */
function hiddenProblem(encoded: string, decoded: string): string | undefined {
  if (/%2f|%5c/i.test(encoded)) return 'holds an encoded slash or backslash';
  if (/\p{Cc}/u.test(decoded)) return 'holds an encoded control character';
  return dotSegmentProblem(decoded);
}

function dotSegmentProblem(path: string): string | undefined {
  return /(?:^|\/)\.{1,2}(?:\/|$)/.test(path) ? 'holds a dot segment ("." or "..")' : undefined;
}

/** The decoded text. Undefined if its percent-encoding is broken or not UTF-8. */
export function uriDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Decodes what is valid percent-encoding and leaves everything else alone. */
export function decodeLeniently(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const decoded = uriDecoded(run);
    if (decoded !== undefined) return decoded;
    return run.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  });
}

/** Whether a path is below a prefix. The prefix alone, without a slash after it, is not. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && path[prefix.length] === '/';
}
