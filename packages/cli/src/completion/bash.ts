import {
  casePattern,
  spaced,
  valueGroups,
  type CompletedCommand,
  type ValueGroup,
} from './command-tree.ts';

const FILES = 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current")';

/** A completion for bash 4 and later: `source <(agent-gateway completion bash)`. */
export function bashCompletion(commands: CompletedCommand[]): string {
  const named = commands.filter(({ path }) => path !== '').map(({ path }) => spaced(path));
  return `# Completion of agent-gateway for bash: source <(agent-gateway completion bash)
_agent_gateway() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$command \${COMP_WORDS[index]}" in
      ${casePattern(named)}) command="$command \${COMP_WORDS[index]}" ;;
    esac
  done
  COMPREPLY=()
  case "$command $previous" in
${valueGroups(commands).map(valueArm).join('\n')}
  esac
  local words=''
  case "$command" in
${commands.map(wordArm).join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _agent_gateway agent-gateway
`;
}

function valueArm({ takes, choices, places }: ValueGroup): string {
  const chosen = `mapfile -t COMPREPLY < <(compgen -W '${choices.join(' ')}' -- "$current"); `;
  const offer = takes === 'file' ? `${FILES}; ` : choices.length > 0 ? chosen : '';
  return `    ${casePattern(places)}) ${offer}return ;;`;
}

function wordArm({ path, subcommands, options, choices, takesFile }: CompletedCommand): string {
  const flags = options.flatMap(({ names }) => names).join(' ');
  const words = [...subcommands.map(({ name }) => name), ...choices].join(' ');
  const others = takesFile ? `${FILES}; return` : `words='${words}'`;
  return `    '${spaced(path)}') if [[ $current == -* ]]; then words='${flags}'; else ${others}; fi ;;`;
}
