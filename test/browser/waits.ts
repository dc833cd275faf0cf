/**
 * How long a check waits for what a page should show, in ms. It is a bound for what never comes. It says nothing of speed,
 * because a machine that runs other suites beside this one is slow.
 */
export const WAIT_MS = 60_000;

/**
 * The pause of the assistant between two words, in ms. It counts to 1,000 and no further, so it talks for 50 s: a page can be
 * loaded and clicked before the answer ends.
 */
export const WORD_DELAY_MS = 50;
