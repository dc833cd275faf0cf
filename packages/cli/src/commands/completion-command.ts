import { Argument, Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { write } from '../output/write.ts';
import { examples } from '../help-text.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function completionCommand(context: CliContext): Command {
  return new Command('completion')
    .summary('print a completion for your shell')
    .description('Prints a script that lets the shell complete commands and options.')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      examples(
        'source <(agent-gateway completion bash)      # in ~/.bashrc',
        'source <(agent-gateway completion zsh)       # in ~/.zshrc, after compinit',
        'agent-gateway completion fish | source       # in ~/.config/fish/config.fish',
      ),
    )
    .action(async (shell: (typeof SHELLS)[number], _: unknown, command: Command) => {
      const { shellCompletion } = await import('../completion/shell-completion.ts');
      await write(context.stdout, shellCompletion(shell, command.parent ?? command));
    });
}
