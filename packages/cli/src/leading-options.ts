import type { Command } from 'commander';

/**
 * The arguments with the options that stand before the command put behind it, where commander looks for them:
 * `--url URL ls` becomes `ls --url URL`.
 */
export function withLeadingOptionsBehind(args: readonly string[], program: Command): string[] {
  const ofCommands = program.commands.flatMap(allOptions);
  const named = (flag: string) =>
    ofCommands.filter(({ short, long }) => short === flag || long === flag);
  let count = 0;
  for (let arg = args[count]; arg?.startsWith('-') && arg !== '--'; arg = args[count]) {
    // Such as --version, or one that is unknown: the program says what it is.
    if (named(arg.split('=')[0] ?? '').length === 0) return [...args];
    count += named(arg).some(({ required }) => required) ? 2 : 1;
  }
  if (count >= args.length) return [...args];
  const [leading, rest] = [args.slice(0, count), args.slice(count)];
  const end = rest.indexOf('--');
  return end === -1
    ? [...rest, ...leading]
    : [...rest.slice(0, end), ...leading, ...rest.slice(end)];
}

function allOptions(command: Command): Command['options'][number][] {
  return [...command.options, ...command.commands.flatMap(allOptions)];
}
