/** A token opens at most this many paths. */
const MAX_PATHS = 16;
const CATALOG = 'catalog';
const AGENT = /^\/streams\/t\/[^/]+\/agents\/([^/]+\/[^/]+)\//;

/** What a read token is asked for. */
export interface ScopeRequest {
  /** Each `type/id`. The one that was read last is the last. */
  agents: string[];
  catalog: boolean;
}

/**
 * What a page reads, for its read tokens: at most 16 agents and the catalog together. What was not read for the longest time
 * is left out.
 */
export class ReadScope {
  /** The catalog and the agents, the one that was read last at the end. */
  readonly #read = new Set<string>();
  #asked: ReadonlySet<string> = new Set();

  /** Notes a read of this path. */
  see(path: string): void {
    const name = nameOf(path);
    if (name === undefined) return;
    this.#read.delete(name);
    this.#read.add(name);
    for (const oldest of this.#read) {
      if (this.#read.size <= MAX_PATHS) return;
      this.#read.delete(oldest);
    }
  }

  /** Whether the latest token was asked for this path, or no token can be. */
  wasAskedFor(path: string): boolean {
    const name = nameOf(path);
    return name === undefined || this.#asked.has(name);
  }

  /** What the next token is asked for. */
  next(): ScopeRequest {
    this.#asked = new Set(this.#read);
    const agents = [...this.#read].filter((name) => name !== CATALOG);
    return { agents, catalog: this.#read.has(CATALOG) };
  }
}

function nameOf(path: string): string | undefined {
  return path.startsWith('/shapes/') ? CATALOG : AGENT.exec(path)?.[1];
}
