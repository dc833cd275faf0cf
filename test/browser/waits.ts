/**
 * How long a check waits for what a page should show, in ms. It is a bound for what never comes. It says nothing of speed,
 * because a machine that runs other suites beside this one is slow.
 */
export const WAIT_MS = 60_000;
