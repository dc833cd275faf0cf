import {
  casePattern,
  spaced,
  valueGroups,
  type CompletedCommand,
  type ValueGroup,
} from './command-tree.ts';

/** A completion for zsh: `source <(agent-gateway completion zsh)`, or `_agent-gateway` in `fpath`. */
export function zshCompletion(commands: CompletedCommand[]): string {
  const named = commands.filter(({ path }) => path !== '').map(({ path }) => spaced(path));
  return `#compdef agent-gateway
# Completion of agent-gateway for zsh: source <(agent-gateway completion zsh)
_agent_gateway() {
  local so_far='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$so_far $word" in
      ${casePattern(named)}) so_far="$so_far $word" ;;
    esac
  done
  case "$so_far \${words[CURRENT-1]}" in
${valueGroups(commands).map(valueArm).join('\n')}
  esac
  local -a candidates
  case "$so_far" in
${commands.map(wordArm).join('\n')}
  esac
  (( $#candidates )) && _describe 'agent-gateway' candidates
}
if [ "$funcstack[1]" = _agent_gateway ] || [ "$funcstack[1]" = _agent-gateway ]; then
  _agent_gateway "$@"
else
  compdef _agent_gateway agent-gateway
fi
`;
}

function valueArm({ takes, choices, places }: ValueGroup): string {
  const chosen = choices.length === 0 ? "_message 'a value'" : `compadd ${choices.join(' ')}`;
  return `    ${casePattern(places)}) ${takes === 'file' ? '_files' : chosen}; return ;;`;
}

function wordArm({ path, subcommands, options, choices, takesFile }: CompletedCommand): string {
  const flags = options.flatMap(({ names, description }) =>
    names.map((name) => candidate(name, description)),
  );
  const words = [
    ...subcommands.map(({ name, summary }) => candidate(name, summary)),
    ...choices.map((choice) => candidate(choice, '')),
  ];
  const others = takesFile ? '_files; return' : `candidates=(${words.join(' ')})`;
  return (
    `    '${spaced(path)}') if [[ $PREFIX == -* ]]; then candidates=(${flags.join(' ')}); ` +
    `else ${others}; fi ;;`
  );
}

/** `name:description` in quotes, as `_describe` expects it. */
function candidate(name: string, description: string): string {
  const text = description === '' ? name : `${name}:${description.replaceAll(':', '\\:')}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
