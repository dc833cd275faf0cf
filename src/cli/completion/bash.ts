import type { CompletedCommand } from './command-tree.ts';

/** A completion for bash 4 and later: `source <(agent-gateway completion bash)`. */
export function bashCompletion(commands: CompletedCommand[]): string {
  const named = commands.filter(({ path }) => path !== '');
  return `# Completion of agent-gateway for bash: source <(agent-gateway completion bash)
_agent_gateway() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$command \${COMP_WORDS[index]}" in
      ${named.map(({ path }) => `'${startOf(path)}'`).join(' | ')}) command="$command \${COMP_WORDS[index]}" ;;
    esac
  done
  COMPREPLY=()
  case "$command $previous" in
${commands.flatMap(valueCases).join('\n')}
  esac
  local words=''
  case "$command" in
${commands.map(wordCase).join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _agent_gateway agent-gateway
`;
}

/** As the script builds it up: a space before each word. */
function startOf(path: string): string {
  return path === '' ? '' : ` ${path}`;
}

function valueCases({ path, options }: CompletedCommand): string[] {
  return options
    .filter(({ takes }) => takes !== 'nothing')
    .map(({ names, takes, choices }) => {
      const patterns = names.map((name) => `'${startOf(path)} ${name}'`).join(' | ');
      const files = 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current")';
      const chosen = `mapfile -t COMPREPLY < <(compgen -W '${choices.join(' ')}' -- "$current")`;
      return `    ${patterns}) ${takes === 'file' ? files : chosen}; return ;;`;
    });
}

function wordCase({ path, subcommands, options, choices, takesFile }: CompletedCommand): string {
  const flags = options.flatMap(({ names }) => names).join(' ');
  const words = [...subcommands.map(({ name }) => name), ...choices].join(' ');
  const others = takesFile
    ? 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return'
    : `words='${words}'`;
  return `    '${startOf(path)}') if [[ $current == -* ]]; then words='${flags}'; else ${others}; fi ;;`;
}
