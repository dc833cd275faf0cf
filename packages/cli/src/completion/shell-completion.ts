import type { Command } from 'commander';
import { bashCompletion } from './bash.ts';
import { commandTree } from './command-tree.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

/** The completion script of a program for a shell. */
export function shellCompletion(shell: 'bash' | 'zsh' | 'fish', program: Command): string {
  const commands = commandTree(program);
  return { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }[shell](commands);
}
