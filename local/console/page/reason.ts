const ESCAPED_TRACEBACK = /Traceback \(most recent call last\):\\n/;

/** An error in lines. Some frameworks write the lines of a traceback with a `\n` of two characters between them. */
export function reasonText(reason: string): string {
  const isPlain = reason.includes('\n') && !ESCAPED_TRACEBACK.test(reason);
  return isPlain ? reason : reason.replaceAll('\\r\\n', '\n').replaceAll('\\n', '\n');
}

/** The line that says most: the last one of a traceback, otherwise the first. */
export function reasonLine(reason: string): string {
  const lines = reasonText(reason).split('\n');
  const [first = ''] = lines;
  if (!first.includes('Traceback (most recent call last):')) return first;
  return lines.findLast((line) => /^\S/.test(line)) ?? first;
}
