import type { Writable } from 'node:stream';
import { plainText } from './plain-text.ts';

/** What is said beside the output: on stderr, with the program's name before it. */
export class Notices {
  /** Called before anything is said, such as to end a line that is still open. */
  beforeSaying: () => void = () => undefined;
  readonly #stderr: Writable;
  readonly #secrets = new Set<string>();

  constructor(stderr: Writable) {
    this.#stderr = stderr;
  }

  /** Never shown from now on, whatever a message holds. */
  keepSecret(secret: string): void {
    this.#secrets.add(secret);
  }

  say(message: string): void {
    let text = plainText(message);
    for (const secret of this.#secrets) text = text.replaceAll(secret, '[key]');
    this.beforeSaying();
    this.#stderr.write(`agent-gateway: ${text}\n`);
  }
}
