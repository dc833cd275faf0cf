import { spaced, type CompletedCommand, type CompletedOption } from './command-tree.ts';

/** A completion for fish: `agent-gateway completion fish | source`. */
export function fishCompletion(commands: CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => `'${spaced(path)}'`);
  return `# Completion of agent-gateway for fish: agent-gateway completion fish | source
function __agent_gateway_at
  set -l so_far ''
  for word in (commandline -opc)[2..]
    if contains -- "$so_far $word" ${paths.join(' ')}
      set so_far "$so_far $word"
    end
  end
  test "$so_far" = "$argv[1]"
end
complete -c agent-gateway -f
${commands.flatMap(linesOf).join('\n')}
`;
}

function linesOf(command: CompletedCommand): string[] {
  const line = `complete -c agent-gateway -n '__agent_gateway_at "${spaced(command.path)}"'`;
  return [
    ...command.subcommands.map(({ name, summary }) => `${line} -a ${name} -d ${quoted(summary)}`),
    ...command.choices.map((choice) => `${line} -a ${choice}`),
    ...(command.takesFile ? [`${line} -F`] : []),
    ...command.options.map((option) => `${line} ${optionFlags(option)}`),
  ];
}

function optionFlags({ names, description, takes, choices }: CompletedOption): string {
  const flags = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  const value = { nothing: [], file: ['-r', '-F'], value: ['-x'] }[takes];
  const chosen = choices.length === 0 ? [] : ['-a', quoted(choices.join(' '))];
  return [...flags, ...value, ...chosen, '-d', quoted(description)].join(' ');
}

/** Fish knows two escapes within single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
