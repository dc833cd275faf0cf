import { overloaded } from '../errors/gateway-error.ts';

/**
 * Caps the commands in progress. Each has a connection while it waits for the runtime, and all of them together must
 * not take the connections that readers need.
 */
export class OpenCommandLimit {
  private readonly max: number;
  private open = 0;

  constructor(max: number) {
    this.max = max;
  }

  get openCommands(): number {
    return this.open;
  }

  /** Takes a place, until `leave`. Throws `overloaded`. */
  enter(): void {
    if (this.open >= this.max) {
      throw overloaded('open_commands', 'The gateway has too many commands in progress');
    }
    this.open++;
  }

  leave(): void {
    this.open--;
  }
}
