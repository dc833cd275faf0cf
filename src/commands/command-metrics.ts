import type { Registry } from 'prom-client';
import { commandOf } from './command-record.ts';
import { COMMAND_VERBS } from './command-verb.ts';
import { LabeledCounter } from '../platform/metrics/instruments.ts';
import type { EndedRequest, RequestObserver } from '../platform/telemetry/request-observer.ts';

/** The last segment of a command's route. For a control command only the body names the verb. */
const COMMAND_ROUTE = /^\/api\/.*?(spawn|send|control)$/;

/**
 * Counts commands by verb and outcome: `accepted`, `replayed` if the runtime already had it, the error code of the
 * response, or `client_gone`. A control command that was refused before its verb was known has the verb `control`.
 */
export class CommandMetrics implements RequestObserver {
  private readonly commands: LabeledCounter<readonly ['verb', 'outcome']>;

  constructor(registry: Registry) {
    this.commands = new LabeledCounter(registry, {
      name: 'gateway_commands_total',
      help: 'Commands by verb and outcome: accepted, replayed, the code of an error, or client_gone.',
      labelNames: ['verb', 'outcome'],
    });
    for (const verb of COMMAND_VERBS) {
      for (const outcome of ['accepted', 'replayed']) this.commands.series(verb, outcome);
    }
  }

  ended({ context }: EndedRequest): void {
    const command = commandOf(context);
    const verb = command?.verb ?? COMMAND_ROUTE.exec(context.route ?? '')?.[1];
    if (verb === undefined) return;
    this.commands.series(verb, outcomeOf(context.errorCode, command?.isReplay)).add();
  }
}

function outcomeOf(errorCode: string | undefined, isReplay: boolean | undefined): string {
  if (errorCode !== undefined) return errorCode;
  if (isReplay === undefined) return 'client_gone';
  return isReplay ? 'replayed' : 'accepted';
}
