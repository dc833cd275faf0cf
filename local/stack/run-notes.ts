/** What a running system leaves in its data folder for `--env`, `--status` and a second start. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Status {
  /** The process of `npm run local`. */
  pid: number;
  parts: { name: string; pid: number; address: string }[];
}

const OWNER_ONLY = { mode: 0o600 };

export class RunNotes {
  /** A file for `source`, with the export line. It stays after the end, because keys and ports stay too. */
  readonly environmentFile: string;
  readonly #statusFile: string;

  constructor(dataFolder: string) {
    this.environmentFile = join(dataFolder, 'env');
    this.#statusFile = join(dataFolder, 'status.json');
  }

  writeEnvironment(line: string): void {
    writeFileSync(this.environmentFile, `${line}\n`, OWNER_ONLY);
  }

  /** The export line, with a line break. */
  environment(): string {
    return readFileSync(this.environmentFile, 'utf8');
  }

  writeStatus(status: Status): void {
    writeFileSync(this.#statusFile, JSON.stringify(status), OWNER_ONLY);
  }

  removeStatus(): void {
    rmSync(this.#statusFile, { force: true });
  }

  /** A table of the parts that run, with a line break. */
  status(): string {
    const { pid, parts } = JSON.parse(readFileSync(this.#statusFile, 'utf8')) as Status;
    const lines = parts.map(
      (part) => `  ${part.name.padEnd(8)} ${`pid ${part.pid}`.padEnd(12)} ${part.address}`,
    );
    return [`The local system runs (pid ${pid}):`, ...lines, ''].join('\n');
  }
}
