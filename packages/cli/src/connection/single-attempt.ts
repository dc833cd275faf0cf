import type { AgentGateway, APIError, EntityRow, LiveOptions } from '../../../client/src/index.ts';

/** For a read that must end, because the library would retry without end. */
export class SingleAttempt {
  readonly options: LiveOptions;
  #failure: APIError | undefined;

  constructor(signal: AbortSignal) {
    const failed = new AbortController();
    this.options = {
      signal: AbortSignal.any([signal, failed.signal]),
      onState: (state) => {
        if (state.name !== 'waiting') return;
        this.#failure = state.error;
        failed.abort();
      },
    };
  }

  throwIfFailed(): void {
    if (this.#failure) throw this.#failure;
  }
}

/** The row of an entity in the catalog, if it has one. Rejects with an `APIError`. */
export async function rowOf(
  gateway: AgentGateway,
  url: string,
  signal: AbortSignal,
): Promise<EntityRow | undefined> {
  const attempt = new SingleAttempt(signal);
  const query = { where: 'url = $1', params: [url], live: false as const };
  for await (const [row] of gateway.catalog({ ...query, ...attempt.options })) return row;
  attempt.throwIfFailed();
  return undefined;
}
