import type { StateMetric } from '../platform/metrics/state-metric.ts';
import { overloaded } from '../platform/errors/gateway-error.ts';

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

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_open_commands',
      help: 'Commands under way.',
      read: () => this.open,
    },
    {
      name: 'gateway_open_commands_limit',
      help: 'Commands that may be under way at once, a quarter of the connections.',
      read: () => this.max,
    },
  ];

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
