/** Wrong settings, which stop the start. One message names all of them and never contains a value. */
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
