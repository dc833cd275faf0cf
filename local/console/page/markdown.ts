import { element } from './element.ts';

/**
 * Renders Markdown as elements: paragraphs, headings, lists, quotes, code, emphasis and links. Every text becomes a
 * text node, and links lead only to http or https, so that no message can bring markup or a script into the page.
 */
export function markdown(source: string): DocumentFragment {
  const made = document.createDocumentFragment();
  const lines = source.replaceAll('\r\n', '\n').split('\n');
  for (let index = 0; index < lines.length;) index = block(lines, index, made);
  return made;
}

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const BULLET = /^\s*[-*+]\s+(.*)$/;
const NUMBER = /^\s*(\d{1,9})[.)]\s+(.*)$/;

/** @returns the index of the first line behind the block. */
function block(lines: readonly string[], start: number, into: Node): number {
  const line = lines[start] ?? '';
  if (line.trim() === '') return start + 1;
  if (FENCE.test(line)) return codeBlock(lines, start, into);
  const heading = HEADING.exec(line);
  if (heading) {
    // The headings of a message are below those of the page.
    into.appendChild(element('p', { className: 'md-heading' }, ...inline(heading[2] ?? '')));
    return start + 1;
  }
  for (const [pattern, tag] of [
    [BULLET, 'ul'],
    [NUMBER, 'ol'],
  ] as const) {
    if (pattern.test(line)) return list(lines, start, into, pattern, tag);
  }
  if (QUOTE.test(line)) {
    const end = endOf(lines, start, (text) => QUOTE.test(text));
    const inner = lines.slice(start, end).map((text) => QUOTE.exec(text)?.[1] ?? '');
    into.appendChild(element('blockquote', {}, markdown(inner.join('\n'))));
    return end;
  }
  const end = endOf(lines, start, (text) => text.trim() !== '' && !isSpecial(text));
  const text = lines.slice(start, Math.max(end, start + 1)).join('\n');
  into.appendChild(element('p', {}, ...inline(text)));
  return Math.max(end, start + 1);
}

function codeBlock(lines: readonly string[], start: number, into: Node): number {
  const end = endOf(lines, start + 1, (text) => !FENCE.test(text));
  const code = lines.slice(start + 1, end).join('\n');
  into.appendChild(element('pre', { tabIndex: 0 }, element('code', {}, code)));
  return end + 1;
}

function list(
  lines: readonly string[],
  start: number,
  into: Node,
  pattern: RegExp,
  tag: 'ul' | 'ol',
): number {
  const end = endOf(lines, start, (text) => pattern.test(text));
  const items = lines
    .slice(start, end)
    .map((text) => element('li', {}, ...inline(pattern.exec(text)?.at(-1) ?? '')));
  const made = element(tag, {}, ...items);
  const first = NUMBER.exec(lines[start] ?? '')?.[1];
  if (made instanceof HTMLOListElement && first !== undefined) made.start = Number(first);
  into.appendChild(made);
  return end;
}

function endOf(lines: readonly string[], start: number, goesOn: (line: string) => boolean): number {
  let end = start;
  while (end < lines.length && goesOn(lines[end] ?? '')) end += 1;
  return end;
}

function isSpecial(line: string): boolean {
  return [FENCE, HEADING, QUOTE, BULLET, NUMBER].some((pattern) => pattern.test(line));
}

const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\*([^*\n]+)\*|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>"')\]]+)/g;

function inline(text: string): (Node | string)[] {
  const made: (Node | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    made.push(text.slice(end, match.index));
    const [whole, code, strong, strong2, emphasis, label, url, bare] = match;
    if (code !== undefined) made.push(element('code', {}, code));
    else if (strong !== undefined) made.push(element('strong', {}, strong));
    else if (strong2 !== undefined) made.push(element('strong', {}, strong2));
    else if (emphasis !== undefined) made.push(element('em', {}, emphasis));
    else made.push(link(url ?? bare ?? whole, label ?? bare ?? whole));
    end = match.index + whole.length;
  }
  made.push(text.slice(end));
  return made;
}

function link(href: string, label: string): Node {
  const isSafe = URL.canParse(href) && /^https?:$/.test(new URL(href).protocol);
  if (!isSafe) return document.createTextNode(label);
  return element('a', { href, rel: 'noopener noreferrer', target: '_blank' }, label);
}
