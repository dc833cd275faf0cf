import MarkdownIt, { type Token } from 'markdown-it/browser';
import { element } from './element.ts';
import { plainText } from './plain-text.ts';

/** A longer text is shown as it is: no parser is linear for every text. */
const LONGEST = 20_000;
/** So deep a quote in a quote, or a list in a list, is shown as it is. */
const DEEPEST = 16;

// Beyond `maxNesting` the parser drops what there is. Such a text is too deep for the page anyhow.
const PARSER = new MarkdownIt({ html: false, linkify: true, maxNesting: 100 });
PARSER.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
PARSER.validateLink = isWebAddress;
// It would hide what a message says.
PARSER.disable('reference');

/**
 * Renders Markdown as elements. Every text becomes a text node, and links lead only to http or https, so that no message can bring markup or a
 * script into the page. A text that is too long or too deep stays as it is.
 */
export function markdown(source: string): Node {
  if (source.length > LONGEST) return plainText(source);
  const tokens = PARSER.parse(source, {});
  return tokens.some(isTooDeep) ? plainText(source) : rendered(tokens);
}

function isTooDeep({ level, children }: Token): boolean {
  return level >= DEEPEST || (children?.some((child) => child.level >= DEEPEST) ?? false);
}

function rendered(tokens: readonly Token[]): DocumentFragment {
  const made = document.createDocumentFragment();
  const open: Node[] = [];
  for (const token of tokens) {
    // The paragraphs of a list without empty lines.
    if (token.hidden) continue;
    const into = open.at(-1) ?? made;
    if (token.nesting < 0) nameIfEmpty(open.pop());
    else if (token.nesting === 0) into.appendChild(leaf(token));
    else {
      const child = opened(token);
      into.appendChild(child);
      open.push(child.firstElementChild ?? child);
    }
  }
  return made;
}

/** What the next tokens go into: the element, or the one within it. */
function opened(token: Token): HTMLElement {
  switch (token.type) {
    case 'heading_open':
      // The headings of a message are below those of the page.
      return element('p', { className: 'md-heading' });
    case 'table_open':
      return element('div', { className: 'md-table', tabIndex: 0 }, element('table'));
    case 'ordered_list_open':
      return element('ol', { start: Number(token.attrGet('start') ?? 1) });
    case 'link_open':
      return link(token, 'href');
    default:
      return document.createElement(token.tag);
  }
}

function leaf(token: Token): Node {
  switch (token.type) {
    case 'inline':
      return rendered(token.children ?? []);
    case 'code_inline':
      return element('code', {}, token.content);
    case 'fence':
    case 'code_block':
      return code(token);
    case 'hr':
      return element('hr');
    case 'softbreak':
    case 'hardbreak':
      return document.createTextNode('\n');
    case 'image':
      // The page loads nothing from elsewhere.
      return nameIfEmpty(link(token, 'src', token.content));
    default:
      return document.createTextNode(token.content);
  }
}

function isWebAddress(href: string): boolean {
  return /^https?:\/\//i.test(href) && URL.canParse(href);
}

/** What stands behind the fence is a language, or anything else. */
function code({ info, content }: Token): HTMLElement {
  const said = element('code', {}, content.replace(/\n$/, ''));
  const label = info.trim() === '' ? [] : [element('span', { className: 'md-info' }, info.trim())];
  return element('pre', { tabIndex: 0 }, ...label, said);
}

function link(token: Token, attribute: 'href' | 'src', label = ''): HTMLElement {
  const href = String(token.attrGet(attribute));
  // `[x]()` has no address.
  if (!isWebAddress(href)) return element('span', {}, label);
  const title = String(token.attrGet('title') ?? '');
  return element('a', { href, title, rel: 'noopener noreferrer', target: '_blank' }, label);
}

/** A link without words is shown as its address. */
function nameIfEmpty(made: Node | undefined): Node {
  if (made instanceof HTMLAnchorElement && made.textContent === '') made.append(made.href);
  return made ?? document.createDocumentFragment();
}
