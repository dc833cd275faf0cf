/** A fenced block of code. */
export interface Block {
  /** The page's path, from the root of the project. */
  page: string;
  /** Of its first fence, from 1. */
  line: number;
  /** The first word behind the fence; empty where there is none. */
  language: string;
  /** The second word, which GitHub does not show: the file that the block is, or its role. */
  name: string | undefined;
  text: string;
  /** What the comment `<!-- snippet: … -->` in front of it says. */
  marker: string | undefined;
}

export interface Place {
  text: string;
  line: number;
}

/** The parts of a Markdown page that the tests use. */
export interface Page {
  path: string;
  blocks: Block[];
  /** What a link may name behind `#`, as GitHub makes it. */
  anchors: Set<string>;
  /** Targets of links and images. */
  links: Place[];
  /** Between single backticks. */
  codeSpans: Place[];
}

const FENCE = /^( *)(`{3,}|~{3,}) *(.*)$/;
const MARKER = /^ *<!-- snippet: (.*?) -->$/;

export function parsePage(path: string, markdown: string): Page {
  const page: Page = { path, blocks: [], anchors: new Set(), links: [], codeSpans: [] };
  const lines = markdown.split('\n');
  let marker: string | undefined;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const fence = FENCE.exec(line);
    if (fence) {
      const length = blockLength(lines, i, fence[2] ?? '');
      page.blocks.push(blockAt(path, lines, i, length, fence, marker));
      i += length + 1;
      marker = undefined;
      continue;
    }
    const said = MARKER.exec(line)?.[1];
    if (said !== undefined) marker = said;
    else if (line.trim() !== '') marker = undefined;
    readLine(page, line, i + 1);
  }
  return page;
}

/** The number of lines between a block's fences. Throws if the closing fence is missing. */
function blockLength(lines: string[], start: number, fence: string): number {
  const end = lines.findIndex(
    (line, i) => i > start && new RegExp(`^ *${fence}+ *$`).test(line) && i > start,
  );
  if (end === -1) throw new Error(`The block of line ${start + 1} is not closed.`);
  return end - start - 1;
}

function blockAt(
  page: string,
  lines: string[],
  start: number,
  length: number,
  [, indent = '', , info = '']: RegExpExecArray,
  marker: string | undefined,
): Block {
  const [language = '', name] = info.trim().split(/\s+/);
  const text = lines
    .slice(start + 1, start + 1 + length)
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()))
    .join('\n');
  return { page, line: start + 1, language, name, text: `${text}\n`, marker };
}

function readLine(page: Page, line: string, number: number): void {
  const heading = /^#{1,6} +(.*?)(?: +#+)?$/.exec(line)?.[1];
  if (heading !== undefined) page.anchors.add(freeAnchor(page.anchors, anchorOf(heading)));
  for (const [, id = ''] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) page.anchors.add(id);
  for (const [, code = ''] of line.matchAll(/(?<!`)`([^`]+)`(?!`)/g)) {
    page.codeSpans.push({ text: code, line: number });
  }
  const prose = line.replace(/(?<!`)`[^`]+`(?!`)/g, '');
  const targets = [
    ...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g),
    ...prose.matchAll(/^ *\[[^\]]+\]: +<?([^\s>]+)>?/g),
    ...prose.matchAll(/<([a-z]+:\/\/[^>\s]+)>/g),
  ];
  for (const [, target = ''] of targets) page.links.push({ text: target, line: number });
}

/** The anchor that GitHub makes of a heading: no punctuation, lower case, hyphens for spaces. */
export function anchorOf(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(^|\s)_([^_]+)_(?=\s|$)/g, '$1$2')
    .replace(/[*`]/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

function freeAnchor(taken: ReadonlySet<string>, anchor: string): string {
  if (!taken.has(anchor)) return anchor;
  for (let i = 1; ; i++) if (!taken.has(`${anchor}-${i}`)) return `${anchor}-${i}`;
}
