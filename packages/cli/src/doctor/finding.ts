/** The result of a check. */
export interface Finding {
  /** The subject of the check, in a word or two. */
  name: string;
  /** Only `bad` makes the command fail. */
  state: 'ok' | 'warning' | 'bad' | 'skipped';
  /** The observation. */
  detail: string;
  /** The remedy. */
  hint?: string | undefined;
  /** The exit code of the command, if this is the first bad finding. */
  exitCode?: number;
}

export function ok(name: string, detail: string): Finding {
  return { name, state: 'ok', detail };
}

export function warning(name: string, detail: string, hint: string): Finding {
  return { name, state: 'warning', detail, hint };
}

export function bad(name: string, exitCode: number, detail: string, hint?: string): Finding {
  return { name, state: 'bad', detail, hint, exitCode };
}

export function skipped(name: string, detail: string): Finding {
  return { name, state: 'skipped', detail };
}
