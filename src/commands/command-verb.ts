/** The verbs of a control command. */
export const CONTROL_VERBS = ['interrupt', 'pause', 'resume', 'archive'] as const;

/** All verbs of commands. Their number is bounded, for metrics. */
export const COMMAND_VERBS = ['spawn', 'send', ...CONTROL_VERBS] as const;
export type CommandVerb = (typeof COMMAND_VERBS)[number];
