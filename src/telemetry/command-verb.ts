/** What a control command can ask for. */
export const CONTROL_VERBS = ['interrupt', 'pause', 'resume', 'archive'] as const;

/** All that a command can ask for; bounded, for metrics. */
export const COMMAND_VERBS = ['spawn', 'send', ...CONTROL_VERBS] as const;
export type CommandVerb = (typeof COMMAND_VERBS)[number];
