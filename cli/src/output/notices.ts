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
    this.beforeSaying();
    this.#stderr.write(`agent-gateway: ${this.withoutSecrets(plainText(message))}\n`);
  }

  /** Writes a question as it is, without a line end. */
  ask(question: string): void {
    this.#stderr.write(question);
  }

  /** For output that holds what a server said, which may be what it was sent. */
  withoutSecrets(text: string): string {
    return [...this.#secrets].reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
  }
}
