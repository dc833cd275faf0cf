import type { Contender } from './contender.ts';

/** No proxy at all: what the machine, the load generator and the upstream can do by themselves. */
export const direct: Contender = {
  id: 'direct',
  label: 'upstream, direct',
  missing: () => undefined,
  start: (streamsUrl) =>
    Promise.resolve({ url: streamsUrl, pid: undefined, stop: () => Promise.resolve() }),
};
