import type { Command, Option } from 'commander';

/** The facts about a command that a shell needs. */
export interface CompletedCommand {
  /** The words of the command, such as `token mint`; empty for the program itself. */
  path: string;
  subcommands: { name: string; summary: string }[];
  options: CompletedOption[];
  /** The possible values of an argument, if they are fixed. */
  choices: readonly string[];
  takesFile: boolean;
}

export interface CompletedOption {
  /** `--file` and `-f`. */
  names: string[];
  description: string;
  takes: 'nothing' | 'file' | 'value';
  choices: readonly string[];
}

/** The program and all commands below it. */
export function commandTree(program: Command, path = ''): CompletedCommand[] {
  const help = program.createHelp();
  const subcommands = help.visibleCommands(program);
  const own: CompletedCommand = {
    path,
    subcommands: subcommands.map((command) => ({
      name: command.name(),
      summary: help.subcommandDescription(command),
    })),
    options: help.visibleOptions(program).map(completedOption),
    choices: program.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesFile: program.registeredArguments.some((argument) => argument.name() === 'file'),
  };
  const below = subcommands
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => commandTree(command, `${path} ${command.name()}`.trim()));
  return [own, ...below];
}

function completedOption({ short, long, flags, description, argChoices }: Option): CompletedOption {
  const takesValue = /[<[]/.test(flags);
  return {
    names: [long, short].filter((name) => name !== undefined),
    description,
    takes: !takesValue ? 'nothing' : flags.includes('<file>') ? 'file' : 'value',
    choices: argChoices ?? [],
  };
}

/** The kind of value that follows an option, and the options of all commands that have this kind. */
export interface ValueGroup {
  takes: 'file' | 'value';
  choices: readonly string[];
  /** A command's words and the option, a space before each: ` tail --live`. */
  places: string[];
}

export function valueGroups(commands: CompletedCommand[]): ValueGroup[] {
  const groups = new Map<string, ValueGroup>();
  for (const { path, options } of commands) {
    for (const { names, takes, choices } of options) {
      if (takes === 'nothing') continue;
      const key = `${takes} ${choices.join(' ')}`;
      const group = groups.get(key) ?? { takes, choices, places: [] };
      group.places.push(...names.map((name) => `${spaced(path)} ${name}`));
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

/** The words of a command as the scripts build them up: a space before each. */
export function spaced(path: string): string {
  return path === '' ? '' : ` ${path}`;
}

/** In single quotes, separated by `|`: a pattern for the shells' `case`. */
export function casePattern(words: string[]): string {
  return words.map((word) => `'${word}'`).join(' | ');
}
