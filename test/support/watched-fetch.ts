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
  const listeners = new Set<(answer: SeenAnswer) => void>();
  return {
    fetch: async (...args) => {
      const response = await fetch(...args);
      const answer = { url: new URL(response.url), status: response.status };
      answers.push(answer);
      for (const listener of listeners) listener(answer);
      return response;
    },
    answers,
    next: (matches) =>
      new Promise((resolve) => {
        const listener = (answer: SeenAnswer) => {
          if (!matches(answer)) return;
          listeners.delete(listener);
          resolve(answer);
        };
        listeners.add(listener);
      }),
    statuses: () => answers.map(({ status }) => status),
  };
}
