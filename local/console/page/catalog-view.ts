import type { EntityRow } from '../../../packages/client/src/index.ts';
import { agentLink, hashOf } from './agent-address.ts';
import { byId, element } from './element.ts';
import { VirtualList } from './virtual-list.ts';

const STATUSES = ['idle', 'running', 'failing', 'paused', 'archived'];
const ROW_PX = 44;
type Filter = HTMLInputElement | HTMLSelectElement;

/** The catalog as a table. Only its visible rows are in the page. */
export class CatalogView {
  readonly #table = byId('catalog');
  readonly #count = byId('count');
  readonly #empty = byId('catalog-empty');
  readonly #filters = [...document.querySelectorAll<Filter>('#filters [data-column]')];
  readonly #list: VirtualList<EntityRow>;
  #rows: readonly EntityRow[] | undefined;
  #matching: readonly EntityRow[] = [];
  #selectedUrl: string | undefined;

  constructor() {
    this.#list = new VirtualList<EntityRow>({
      scroller: byId('catalog-scroll'),
      list: byId('rows'),
      keyOf: ({ url }) => url,
      estimatePx: ROW_PX,
      render: newLine,
      update: (line, row, index) => {
        fill(line, row, row.url === this.#selectedUrl);
        // The first row of the table is its heading.
        line.setAttribute('aria-rowindex', String(index + 2));
      },
    });
    for (const filter of this.#filters) filter.addEventListener('input', () => this.#render());
    byId('rows').addEventListener('keydown', (event) => this.#onKey(event));
  }

  /** @param rows all rows of the catalog, in any order */
  show(rows: readonly EntityRow[]): void {
    // Sorted by creation time. If sorted by change, rows would move away from under the pointer.
    this.#rows = rows.toSorted((a, b) => b.created_at.localeCompare(a.created_at));
    this.#offer('type', distinct(rows.map(({ type }) => type)));
    this.#offer('status', distinct([...STATUSES, ...rows.map(({ status }) => status)]));
    offerTypes(distinct(['assistant', 'echo', ...rows.map(({ type }) => type)]));
    this.#render();
  }

  /** Shown instead of rows until some have been read. */
  note(text: string): void {
    if (!this.#rows) this.#empty.textContent = text;
  }

  select(url: string | undefined): void {
    this.#selectedUrl = url;
    this.#list.show(this.#matching);
  }

  focus(url: string): void {
    this.#focusAt(this.#matching.findIndex((row) => row.url === url));
  }

  #render(): void {
    const rows = this.#rows ?? [];
    this.#matching = rows.filter((row) => this.#matches(row));
    this.#list.show(this.#matching);
    const { length } = this.#matching;
    this.#table.setAttribute('aria-rowcount', String(length + 1));
    this.#count.textContent = length === rows.length ? `${length}` : `${length} of ${rows.length}`;
    this.#empty.hidden = length > 0;
    if (this.#rows) {
      this.#empty.textContent =
        rows.length === 0 ? 'No agents yet: spawn one.' : 'No agent matches.';
    }
  }

  /** The arrow keys go from row to row, also to rows that are not in the page yet. */
  #onKey(event: KeyboardEvent): void {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const line = (event.target as HTMLElement).closest<HTMLElement>('[data-url]');
    const at = this.#matching.findIndex(({ url }) => url === line?.dataset.url);
    const last = this.#matching.length - 1;
    const to = { Home: 0, End: last }[event.key] ?? at + (steps[event.key] ?? 0);
    if (at < 0 || to === at) return;
    event.preventDefault();
    this.#focusAt(Math.max(0, Math.min(last, to)));
  }

  #focusAt(index: number): void {
    this.#list.reveal(index)?.querySelector<HTMLElement>('.open')?.focus();
  }

  #matches(row: EntityRow): boolean {
    return this.#filters.every((filter) => {
      const value = row[filter.dataset.column ?? ''];
      const cell = typeof value === 'string' ? value : '';
      if (filter instanceof HTMLSelectElement) return filter.value === '' || cell === filter.value;
      return cell.toLowerCase().includes(filter.value.trim().toLowerCase());
    });
  }

  #offer(column: string, values: readonly string[]): void {
    const select = this.#filters.find(({ dataset }) => dataset.column === column);
    if (!(select instanceof HTMLSelectElement)) return;
    const offered = new Set([...select.options].map(({ value }) => value));
    for (const value of values) if (!offered.has(value)) select.add(new Option(value, value));
  }
}

function newLine({ url, type, id }: EntityRow): HTMLElement {
  const link = element('a', { href: hashOf({ type, id }), className: 'open' }, id);
  const cell = (name: string, ...children: Node[]): HTMLElement => {
    const made = element(
      'div',
      { className: name, dataset: { testid: `cell-${name}` } },
      ...children,
    );
    made.setAttribute('role', 'cell');
    return made;
  };
  const cells = [
    cell('type'),
    cell('id', link),
    cell('status', element('span', { className: 'pill' })),
    cell('parent'),
  ];
  const line = element(
    'div',
    { className: 'row', dataset: { testid: 'catalog-row', url } },
    ...cells,
  );
  line.setAttribute('role', 'row');
  return line;
}

function fill(line: HTMLElement, { type, status, parent }: EntityRow, isSelected: boolean): void {
  const [typeCell, , statusCell, parentCell] = [...line.children] as HTMLElement[];
  if (!typeCell || !statusCell || !parentCell) return;
  if (typeCell.textContent !== type) typeCell.textContent = type;
  showStatus(statusCell.firstElementChild as HTMLElement, status);
  line.dataset.status = status;
  line.classList.toggle('selected', isSelected);
  const link = line.querySelector('.open');
  if (isSelected) link?.setAttribute('aria-current', 'true');
  else link?.removeAttribute('aria-current');
  if (parentCell.dataset.url === (parent ?? '')) return;
  parentCell.dataset.url = parent ?? '';
  parentCell.replaceChildren(...(parent ? [agentLink(parent)] : []));
}

export function showStatus(pill: HTMLElement, status: string): void {
  if (pill.textContent === status) return;
  pill.textContent = status;
  pill.dataset.status = status;
}

function offerTypes(types: readonly string[]): void {
  const list = byId('types');
  if (list.children.length === types.length) return;
  list.replaceChildren(...types.map((type) => new Option(type, type)));
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}
