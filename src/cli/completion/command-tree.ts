import type { Command, Option } from 'commander';

/** What a shell has to know of a command. */
export interface CompletedCommand {
  /** The words that name it, such as `token mint`; empty for the program itself. */
  path: string;
  subcommands: { name: string; summary: string }[];
  options: CompletedOption[];
  /** What an argument may be, where there is a choice. */
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
