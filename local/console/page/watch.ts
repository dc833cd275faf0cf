import { APIError } from '../../../packages/client/src/index.ts';
import type { AgentFailure, EntityRow, LiveState } from '../../../packages/client/src/index.ts';
import { hashOf } from './agent-address.ts';
import { failuresOf, type Failure } from './agent-list.ts';
import { plain } from './event-text.ts';
import { askGateway, commandGateway, LOOK, readGateway, streamPrefix } from './gateway.ts';
import type { Settings } from './gateway.ts';
import { pauseAfter } from './pace.ts';
import type { Part } from './status-line.ts';

/** By agent, why they are not known if they are not, and as Restate has them. */
type OnFailures = (
  failures: ReadonlyMap<string, Failure>,
  note: string,
  all: readonly AgentFailure[],
) => void;

const PERIOD_MS = 3_000;
const MOST_FAILING = 1_000;
/** A reason is on the agent's timeline, which is read as a whole. */
const MOST_REASONS = 20;

/**
 * Asks every few seconds what no live read tells: whether the gateway and the history store answer, which invocations fail in
 * the runtime, and why agents fail whose row says so.
 */
export class Watch {
  readonly #settings: Settings;
  readonly #report: (part: Part, state: LiveState) => void;
  readonly #onFailures: OnFailures;
  /** Of agents whose row says that they fail, with the time of the row. */
  readonly #reasons = new Map<string, { at: string; failure: Failure }>();
  #rows: readonly EntityRow[] = [];
  #failures: readonly AgentFailure[] = [];
  #note = '';
  #askFailuresAtMs = 0;

  constructor(
    settings: Settings,
    report: (part: Part, state: LiveState) => void,
    onFailures: OnFailures,
  ) {
    this.#settings = settings;
    this.#report = report;
    this.#onFailures = onFailures;
    void this.#run();
  }

  setRows(rows: readonly EntityRow[]): void {
    this.#rows = rows;
  }

  async #run(): Promise<never> {
    for (;;) {
      if (!document.hidden) {
        await Promise.all([
          this.#askGateway(),
          this.#askRuntime(),
          this.#askStore(),
          this.#askReasons(),
        ]);
        this.#tell();
      }
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
  }

  async #askGateway(): Promise<void> {
    const error = await askGateway();
    this.#report('gateway', error ? waiting(error) : { name: 'live' });
  }

  /** Whether Restate answers is asked each time. What fails is asked less often, because Restate looks through all its invocations for it. */
  async #askRuntime(): Promise<void> {
    const beganAtMs = performance.now();
    const isDue = beganAtMs >= this.#askFailuresAtMs;
    try {
      if (isDue) await this.#askFailures();
      else await commandGateway.deployments.list(LOOK);
      this.#note = '';
      this.#report('runtime', { name: 'live' });
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      // A key without this scope is no outage.
      const isClosed = error.status === 401 || error.status === 403;
      this.#note = isClosed ? `What fails in the runtime cannot be read: ${error.detail}` : '';
      this.#report('runtime', isClosed ? { name: 'live' } : waiting(error));
      return;
    }
    const now = performance.now();
    if (isDue) this.#askFailuresAtMs = now + pauseAfter(now - beganAtMs);
  }

  async #askFailures(): Promise<void> {
    const call = { ...LOOK, limit: MOST_FAILING, rows: this.#rows };
    this.#failures = await commandGateway.invocations.failures(call);
  }

  /** Any timeline will do, and a new token each time tells whether there are tokens. */
  async #askStore(): Promise<void> {
    const [row] = this.#rows;
    if (!row) return;
    this.#report('store', await this.#readOnce(row, 'now', () => undefined));
  }

  async #askReasons(): Promise<void> {
    const failing = this.#rows.filter(({ status }) => status === 'failing');
    for (const row of failing.slice(0, MOST_REASONS)) {
      if (this.#reasons.get(row.url)?.at === row.updated_at) continue;
      let failure: Failure | undefined;
      await this.#readOnce(row, 'start', (event) => {
        const { kind, status, reason, attempt, at } = event as Record<string, unknown>;
        if (kind !== 'status') return;
        failure =
          status === 'failing'
            ? {
                reason: plain(reason ?? 'It does not say why.'),
                tries: typeof attempt === 'number' ? attempt : undefined,
                since: failure?.since ?? plain(at),
                nextTryAt: undefined,
              }
            : undefined;
      });
      if (failure) this.#reasons.set(row.url, { at: row.updated_at, failure });
    }
  }

  /** Reads the existing events of an agent, and says how that went. */
  async #readOnce(
    row: EntityRow,
    from: 'start' | 'now',
    onEvent: (event: unknown) => void,
  ): Promise<LiveState> {
    const failed = new AbortController();
    const timeout = AbortSignal.timeout(LOOK.timeoutMs);
    let state: LiveState = { name: 'live' };
    const read = readGateway(this.#settings, streamPrefix(this.#settings, row)).timeline(row.url, {
      from,
      live: false,
      waitForStream: false,
      signal: AbortSignal.any([failed.signal, timeout]),
      onState: (now) => {
        if (now.name !== 'waiting') return;
        state = waiting(now.error);
        failed.abort();
      },
    });
    await read.subscribe(onEvent).catch((error: unknown) => {
      if (error instanceof APIError) state = waiting(error);
    });
    if (timeout.aborted && state.name === 'live') {
      return waiting(new APIError('There was no answer in time.', { code: 'timeout' }));
    }
    return state;
  }

  #tell(): void {
    const failures = failuresOf(this.#failures);
    for (const row of this.#rows) {
      if (row.status !== 'failing') continue;
      const known = failures.get(hashOf(row));
      // Without the registry the row is all that is known. Where only the row says so, the timeline has the reason.
      const isOfRow = known ? known.isOfRow : this.#note !== '';
      const unknown = { reason: '', tries: undefined, since: row.updated_at, nextTryAt: undefined };
      const said = this.#reasons.get(row.url)?.failure ?? known ?? unknown;
      if (isOfRow) failures.set(hashOf(row), said);
    }
    this.#onFailures(failures, this.#note, this.#failures);
  }
}

function waiting(error: APIError): LiveState {
  return { name: 'waiting', error, retryInMs: PERIOD_MS };
}
