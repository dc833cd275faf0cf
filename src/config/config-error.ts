/** Settings that stop the start: one message that names every wrong one. Never holds a value. */
export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(
      `the gateway cannot start, ${problems.length === 1 ? 'a setting is' : `${problems.length} settings are`} wrong:\n` +
        problems.map((problem) => `  - ${problem}`).join('\n'),
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
