/** The exit codes for scripts. `docs/command-line.md` and `--help` repeat them. */
export const EXIT = {
  done: 0,
  /** Any other failure, and a negative result. */
  failed: 1,
  /** Wrong usage or invalid settings. Nothing was sent. */
  usage: 2,
  /** There is no credential, or it does not open this. */
  refused: 3,
  notFound: 4,
  /** The request itself is refused. Repeating it would not help. */
  invalid: 5,
  /** The gateway or a server behind it is not available. */
  unreachable: 6,
  interrupted: 130,
} as const;

/** The meanings of the codes, for `--help`. */
export const EXIT_CODE_MEANINGS: readonly (readonly [string, string])[] = [
  ['0', 'done; also when the reader of a pipe has ended'],
  ['1', 'failed for another reason, or the answer is no (token check, doctor, a missing reply)'],
  ['2', 'wrong usage or settings; nothing was sent'],
  ['3', 'no credential, or one that does not open this (401, 403)'],
  ['4', 'not found: no such timeline, entity type or tenant (404)'],
  ['5', 'refused; the same request would be refused again (other 4xx, or by the agent)'],
  ['6', 'the gateway or a server behind it is not available (network, 408, 429, 502 to 504)'],
  ['129', 'ended by SIGHUP, 130 by Ctrl-C, 143 by SIGTERM'],
];

/** The code for an unsuccessful HTTP status. */
export function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.refused;
  if (status === 404) return EXIT.notFound;
  if (status === 408 || status === 429 || (status >= 502 && status <= 504)) return EXIT.unreachable;
  if (status >= 400 && status < 500) return EXIT.invalid;
  return EXIT.failed;
}
