import { hashOf } from './agent-address.js';
import { agentLink } from './agent-link.js';
import { element } from './element.js';

const STATUSES = ['idle', 'running', 'paused', 'archived'];

/** The catalog as a table: rows stay the same elements, so that focus and scrolling stay put. */
export class CatalogTable {
  #body = document.getElementById('rows');
  #count = document.getElementById('count');
  #empty = document.getElementById('catalog-empty');
  #filters = [...document.querySelectorAll('#filters [data-column]')];
  #rows = [];
  #shown = new Map();
  #selectedUrl;

  constructor() {
    for (const filter of this.#filters) filter.addEventListener('input', () => this.#render());
  }

  /** @param rows all rows of the catalog, in any order */
  show(rows) {
    // By their birth: an order by change would move a row away from under the pointer.
    this.#rows = rows.toSorted((a, b) => b.created_at.localeCompare(a.created_at));
    this.#offer('type', distinct(rows.map(({ type }) => type)));
    this.#offer('status', distinct([...STATUSES, ...rows.map(({ status }) => status)]));
    offerTypes(distinct(['assistant', 'echo', ...rows.map(({ type }) => type)]));
    this.#render();
  }

  select(url) {
    this.#selectedUrl = url;
    for (const [rowUrl, row] of this.#shown) mark(row, rowUrl === url);
  }

  focus(url) {
    this.#shown.get(url)?.querySelector('.open').focus();
  }

  #render() {
    const matching = this.#rows.filter((row) => this.#matches(row));
    const shown = new Map();
    for (const row of matching) {
      const line = this.#shown.get(row.url) ?? newLine(row);
      fill(line, row);
      mark(line, row.url === this.#selectedUrl);
      shown.set(row.url, line);
    }
    for (const [url, line] of this.#shown) if (!shown.has(url)) line.remove();
    // Only what is not in its place is moved: moving an element takes the focus from it.
    [...shown.values()].forEach((line, index) => {
      const there = this.#body.children[index];
      if (there !== line) this.#body.insertBefore(line, there ?? null);
    });
    this.#shown = shown;
    this.#tellCount(matching.length);
  }

  #tellCount(matching) {
    const all = this.#rows.length;
    this.#count.textContent = matching === all ? String(all) : `${matching} of ${all}`;
    this.#empty.hidden = matching > 0;
    this.#empty.textContent = all === 0 ? 'No agents yet: spawn one.' : 'No agent matches.';
  }

  #matches(row) {
    return this.#filters.every(({ dataset, value, tagName }) => {
      const cell = row[dataset.column] ?? '';
      if (tagName === 'SELECT') return value === '' || cell === value;
      return cell.toLowerCase().includes(value.trim().toLowerCase());
    });
  }

  #offer(column, values) {
    const select = this.#filters.find(({ dataset }) => dataset.column === column);
    const offered = [...select.options].map(({ value }) => value);
    for (const value of values) if (!offered.includes(value)) select.add(new Option(value, value));
  }
}

function newLine({ url, type, id }) {
  const link = element('a', { href: hashOf({ type, id }), className: 'open', textContent: id });
  const cell = (name, ...children) =>
    setRole(element('td', { className: name, dataset: { testid: `cell-${name}` } }, ...children));
  const pill = element('span', { className: 'pill' });
  const cells = [cell('type'), cell('id', link), cell('status', pill), cell('parent')];
  const line = element('tr', { dataset: { testid: 'catalog-row', url } }, ...cells);
  line.setAttribute('role', 'row');
  return line;
}

function setRole(cell) {
  // The narrow layout takes the table's display away, and with it what a screen reader makes of it.
  cell.setAttribute('role', 'cell');
  return cell;
}

function fill(line, { type, status, parent }) {
  const [typeCell, , statusCell, parentCell] = line.children;
  typeCell.textContent = type;
  showStatus(statusCell.firstChild, status);
  line.dataset.status = status;
  if (parentCell.dataset.url === (parent ?? '')) return;
  parentCell.dataset.url = parent ?? '';
  parentCell.replaceChildren(...(parent ? [agentLink(parent)] : []));
}

export function showStatus(pill, status) {
  pill.textContent = status;
  pill.dataset.status = status;
}

function mark(line, isSelected) {
  const link = line.querySelector('.open');
  if (isSelected) link.setAttribute('aria-current', 'true');
  else link.removeAttribute('aria-current');
  line.classList.toggle('selected', isSelected);
}

function offerTypes(types) {
  const list = document.getElementById('types');
  if (list.children.length === types.length) return;
  list.replaceChildren(...types.map((type) => new Option(type, type)));
}

function distinct(values) {
  return [...new Set(values)];
}
