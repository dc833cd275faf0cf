/** What a check found. */
export interface Finding {
  /** What was looked at, in a word or two. */
  name: string;
  /** Only what is bad makes the command fail. */
  state: 'ok' | 'warning' | 'bad' | 'skipped';
  /** What was seen. */
  detail: string;
  /** What to do about it. */
  hint?: string | undefined;
  /** What the command ends with, where this is the first bad finding. */
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
