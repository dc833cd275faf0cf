import { readFileSync } from 'node:fs';

/** The text of a file of the operating system. Empty if it cannot be read, because not every system has it. */
export function systemText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
