import { setTimeout as sleep } from 'node:timers/promises';
import { Shape, ShapeStream, type Row } from '@electric-sql/client';
import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import '../../local/catalog/unref-client-timers.ts';
import { AUTHORIZED } from '../support/credentials.ts';

const urlOfRow = (id: string): string => `/t/default/a/soak/${id}`;

/**
 * Changes one row of the catalog again and again, at the engine itself; the newest value. Each changer needs a
 * row of its own: a second one begins from zero, and a reader of both sees the row step back.
 */
export class RowChanger {
  value = 0;
  private readonly catalogUrl: string;
  private readonly id: string;

  constructor(catalogUrl: string, id: string) {
    this.catalogUrl = catalogUrl;
    this.id = id;
  }

  async run(perSecond: number, signal: AbortSignal): Promise<void> {
    const place = { url: urlOfRow(this.id), type: 'soak', tenant: 'default' };
    while (!signal.aborted) {
      const row = entity(this.id, { ...place, status: String(this.value + 1) });
      await putEntity({ url: this.catalogUrl }, row).then(
        () => this.value++,
        () => undefined,
      );
      await sleep(1_000 / perSecond, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The catalog as an application sees it, through the gateways with the real client. */
export class CatalogReader {
  /** Values that came after a greater one. */
  readonly steppedBack: string[] = [];
  readonly errors: string[] = [];
  private readonly stopped = new AbortController();
  private readonly shape: Shape<Row>;
  private readonly id: string;
  private newest = 0;

  constructor(gatewayUrl: string, id: string) {
    this.id = id;
    const stream = new ShapeStream<Row>({
      url: `${gatewayUrl}/shapes/v1/shape`,
      params: { table: 'entities' },
      headers: { ...AUTHORIZED },
      signal: this.stopped.signal,
      backoffOptions: { initialDelay: 50, maxDelay: 500, multiplier: 1.5 },
      onError: (error) => {
        this.errors.push(String(error));
      },
    });
    this.shape = new Shape<Row>(stream);
    this.shape.subscribe(() => this.follow());
  }

  get value(): number {
    const row = this.shape.currentRows.find(({ url }) => url === urlOfRow(this.id));
    return Number(row?.['status'] ?? 0);
  }

  /** By url, as text. */
  rows(): string[] {
    return this.shape.currentRows.map((row) => JSON.stringify(row, Object.keys(row).sort())).sort();
  }

  stop(): void {
    this.stopped.abort();
  }

  private follow(): void {
    if (!this.shape.isUpToDate) return;
    if (this.value < this.newest) this.steppedBack.push(`${this.value} after ${this.newest}`);
    this.newest = Math.max(this.newest, this.value);
  }
}

/** The rows in the engine itself. */
export async function catalogRows(catalogUrl: string): Promise<string[]> {
  const response = await fetch(`${catalogUrl}/v1/shape?table=entities&offset=-1`);
  const messages = (await response.json()) as { value?: Row }[];
  return messages
    .flatMap(({ value }) => (value ? [JSON.stringify(value, Object.keys(value).sort())] : []))
    .sort();
}
