import { CONTROL_VERBS } from '../commands/dto/control.dto.ts';

/** All that a command can ask for; bounded, for metrics. */
export const COMMAND_VERBS = ['spawn', 'send', ...CONTROL_VERBS] as const;
export type CommandVerb = (typeof COMMAND_VERBS)[number];
