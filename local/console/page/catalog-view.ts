import type { EntityRow } from '../../../packages/client/src/index.ts';
import { fillAgentLine, newAgentLine } from './agent-line.ts';
import {
  listed,
  SORTS,
  statusesOf,
  withUnlisted,
  type Failure,
  type Listed,
} from './agent-list.ts';
import { byId } from './element.ts';
import { Roving } from './roving.ts';
import { VirtualList } from './virtual-list.ts';

const ROW_PX = 54;
/** Agents that are busy change their rows many times a second. */
const DRAW_EVERY_MS = 150;
const AGES_EVERY_MS = 5_000;

/** The catalog as a list. Only its visible rows are in the page. */
export class CatalogView {
  readonly #tenant: string;
  readonly #loadedOf: (url: string) => string;
  readonly #count = byId('count');
  readonly #empty = byId('catalog-empty');
  readonly #failing = byId<HTMLButtonElement>('failing');
  readonly #text = byId<HTMLInputElement>('filter-text');
  readonly #type = byId<HTMLSelectElement>('filter-type');
  readonly #status = byId<HTMLSelectElement>('filter-status');
  readonly #sort = byId<HTMLSelectElement>('sort');
  readonly #list: VirtualList<Listed>;
  readonly #roving: Roving;
  #rows: readonly EntityRow[] | undefined;
  #failures: ReadonlyMap<string, Failure> = new Map();
  #shown: readonly Listed[] = [];
  #selectedUrl: string | undefined;
  #isPlanned = false;

  /** @param loadedOf what is loaded of the conversation of an agent */
  constructor(tenant: string, loadedOf: (url: string) => string) {
    this.#tenant = tenant;
    this.#loadedOf = loadedOf;
    for (const [value, label] of Object.entries(SORTS)) this.#sort.add(new Option(label, value));
    const list = byId('rows');
    this.#list = new VirtualList<Listed>({
      scroller: byId('catalog-scroll'),
      list,
      keyOf: ({ row }) => row.url,
      estimatePx: ROW_PX,
      render: newAgentLine,
      update: (line, one, index) => {
        fillAgentLine(line, one, one.row.url === this.#selectedUrl);
        line.setAttribute('aria-posinset', String(index + 1));
        line.setAttribute('aria-setsize', String(this.#shown.length));
        this.#roving.update(line, one.row.url, index);
      },
    });
    const keys = (): string[] => this.#shown.map(({ row }) => row.url);
    this.#roving = new Roving(list, this.#list, '.open', keys);
    for (const control of [this.#text, this.#type, this.#status, this.#sort]) {
      control.addEventListener('input', () => this.#render());
    }
    this.#failing.addEventListener('click', () => {
      this.#status.value = this.#status.value === 'failing' ? '' : 'failing';
      this.#render();
    });
    setInterval(() => this.#list.redraw(), AGES_EVERY_MS);
  }

  /** @param rows all rows of the catalog, in any order */
  show(rows: readonly EntityRow[]): void {
    this.#rows = rows;
    this.#plan();
  }

  /** @param note why they are not known, if they are not */
  showFailures(failures: ReadonlyMap<string, Failure>, note: string): void {
    this.#failures = failures;
    byId('catalog-note').textContent = note;
    this.#plan();
  }

  /** Shown instead of rows until some have been read. */
  note(text: string): void {
    if (!this.#rows) this.#empty.textContent = text;
  }

  /** Shows only the agents of this type. */
  filterType(type: string): void {
    this.#offer([type]);
    this.#type.value = type;
    this.#render();
  }

  select(url: string | undefined): void {
    this.#selectedUrl = url;
    this.#roving.set(url);
  }

  focus(url: string): void {
    this.#roving.focus(url);
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setTimeout(() => {
      this.#isPlanned = false;
      this.#render();
    }, DRAW_EVERY_MS);
  }

  #render(): void {
    const rows = withUnlisted(this.#rows ?? [], this.#failures, this.#tenant);
    const { value: sort } = this.#sort;
    const everything = listed(rows, this.#failures, { text: '', type: '', status: '', sort });
    const statuses = statusesOf(everything);
    this.#offer(new Set(rows.map(({ type }) => type)));
    this.#showStatuses(statuses);
    const query = {
      text: this.#text.value,
      type: this.#type.value,
      status: this.#status.value,
      sort,
    };
    const isWhole = query.text === '' && query.type === '' && query.status === '';
    this.#shown = isWhole ? everything : listed(rows, this.#failures, query, this.#loadedOf);
    this.#list.show(this.#shown);
    const { length } = this.#shown;
    this.#count.textContent = isWhole ? `${length}` : `${length} of ${rows.length}`;
    this.#empty.hidden = length > 0;
    if (this.#rows) {
      this.#empty.textContent =
        rows.length === 0 ? 'No agents yet: spawn one.' : 'No agent matches.';
    }
  }

  #showStatuses(statuses: ReadonlyMap<string, number>): void {
    const failing = statuses.get('failing') ?? 0;
    this.#failing.hidden = failing === 0 && this.#status.value !== 'failing';
    this.#failing.textContent = `${failing} failing`;
    this.#failing.ariaPressed = String(this.#status.value === 'failing');
    document.title = document.title.replace(/^(?:\(\d+\) )?/, failing === 0 ? '' : `(${failing}) `);
    const wanted = [['', 'Any status']];
    for (const [status, count] of statuses) wanted.push([status, `${status} (${count})`]);
    for (const [index, [value = '', label = '']] of wanted.entries()) {
      const option = this.#status.options[index];
      if (option?.value === value) {
        if (option.text !== label) option.text = label;
      } else this.#status.add(new Option(label, value), index);
    }
  }

  #offer(types: Iterable<string>): void {
    const offered = new Set([...this.#type.options].map(({ value }) => value));
    for (const type of types) {
      if (!offered.has(type)) this.#type.add(new Option(type, type));
    }
  }
}
