import { Changes } from './changes.ts';
import { awaited } from './until.ts';

/** A response as a client's `fetch` received it. */
export interface SeenAnswer {
  url: URL;
  status: number;
}

export interface WatchedFetch {
  /** To be given to a client; it is the global one and changes nothing. */
  fetch: typeof globalThis.fetch;
  answers: SeenAnswer[];
  /** The next answer from now on that matches. */
  next(matches: (answer: SeenAnswer) => boolean): Promise<SeenAnswer>;
  statuses(): number[];
}

export function watchedFetch(): WatchedFetch {
  const answers: SeenAnswer[] = [];
  const changes = new Changes();
  return {
    fetch: async (...args) => {
      const response = await fetch(...args);
      answers.push({ url: new URL(response.url), status: response.status });
      changes.tell();
      return response;
    },
    answers,
    next: (matches) => {
      const from = answers.length;
      const found = changes.found(() => answers.slice(from).find(matches));
      return awaited(() => `an answer for which ${String(matches)}`, found);
    },
    statuses: () => answers.map(({ status }) => status),
  };
}
