import type { Writable } from 'node:stream';
import { plainText } from './plain-text.ts';

/** Messages besides the output: on stderr, with the program's name first. */
export class Notices {
  /** Called before each message, for example to end a line that is still open. */
  beforeSaying: () => void = () => undefined;
  readonly #stderr: Writable;
  readonly #secrets = new Set<string>();

  constructor(stderr: Writable) {
    this.#stderr = stderr;
  }

  /** A text that no message shows from now on. */
  keepSecret(secret: string): void {
    this.#secrets.add(secret);
  }

  say(message: string): void {
    this.beforeSaying();
    this.#stderr.write(`agent-gateway: ${this.withoutSecrets(plainText(message))}\n`);
  }

  /** Writes a question unchanged, without a line end. */
  ask(question: string): void {
    this.#stderr.write(question);
  }

  /** For output with the text of a server, which may repeat what it was sent. */
  withoutSecrets(text: string): string {
    return [...this.#secrets].reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
  }
}
