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
    // Further lines are indented, so that no text of a server looks like another message.
    const lines = this.withoutSecrets(plainText(message)).replaceAll('\n', '\n  ');
    this.#stderr.write(`agent-gateway: ${lines}\n`);
  }

  /** Writes a question without a line end. */
  ask(question: string): void {
    this.#stderr.write(this.withoutSecrets(plainText(question)));
  }

  /** For output with the text of a server, which may repeat what it was sent. */
  withoutSecrets(text: string): string {
    return [...this.#secrets].reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
  }
}
