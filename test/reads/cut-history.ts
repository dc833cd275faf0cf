import { startFlakyLink, type FlakyLink } from '../support/flaky-link.ts';
import { startHistory } from '../support/history.ts';

/** The store keeps a timer this long for each event stream that was cut. */
const LONG_POLL_MS = 300;

/** A history store behind a link that the test can cut. */
export interface CutHistory {
  /** The store's own. */
  url: string;
  /** The same by way of the link, for a gateway. */
  linkedUrl: string;
  link: FlakyLink;
  stop(): Promise<void>;
}

export async function startCutHistory(): Promise<CutHistory> {
  const history = await startHistory({ longPollTimeoutMs: LONG_POLL_MS });
  const link = await startFlakyLink(history.port);
  return {
    url: history.url,
    linkedUrl: history.url.replace(`:${history.port}`, `:${link.port}`),
    link,
    stop: async () => {
      await link.stop();
      await history.stop();
    },
  };
}
