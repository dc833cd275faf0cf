import { styleText } from 'node:util';

const COLOURS = {
  restate: 'magenta',
  history: 'cyan',
  catalog: 'yellow',
  agents: 'green',
  gateway: 'blue',
  console: 'greenBright',
  local: 'bold',
} as const;
type Part = keyof typeof COLOURS;
/** One of several copies of a part has a number. */
export type Speaker = Part | `${Part}-${number}`;

const PREFIX_WIDTH = Math.max(...Object.keys(COLOURS).map((name) => name.length));

/** Prints a line after its part's prefix, coloured on a terminal unless NO_COLOR is set. */
export function say(speaker: Speaker, line: string): void {
  const prefix = `${speaker.padEnd(PREFIX_WIDTH)} |`;
  const [part] = speaker.split('-') as [Part];
  process.stdout.write(`${styleText(COLOURS[part], prefix)} ${line}\n`);
}

/** The gateway's JSON log line for people: a request in brief and once, anything else in full. */
export function readableLogLine(line: string): string | undefined {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { method, path, status, durationMs, code, message } = entry;
  if (message === 'audit') return undefined;
  if (method === undefined || status === undefined) {
    return typeof message === 'string' && entry.level === 'info' ? message : line;
  }
  return [method, path, status, `${String(durationMs)} ms`, code].filter(Boolean).join(' ');
}
