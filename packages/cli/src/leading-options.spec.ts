import { describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { withLeadingOptionsBehind } from './leading-options.ts';

const program = new Command('agent-gateway')
  .version('1')
  .addCommand(
    new Command('keys').addCommand(
      new Command('hash').option('--url <url>').option('-j, --json').argument('<file>'),
    ),
  );

describe('withLeadingOptionsBehind', () => {
  it.each([
    ['--url x keys hash f', 'keys hash f --url x'],
    ['--url=x -j keys hash f', 'keys hash f --url=x -j'],
    ['--json keys hash -- -f', 'keys hash --json -- -f'],
    ['keys hash f --url x', 'keys hash f --url x'],
    ['--version', '--version'],
    ['--url', '--url'],
    ['--nope keys hash f', '--nope keys hash f'],
    ['-- keys', '-- keys'],
  ])('makes of %j %j', (given, expected) => {
    expect(withLeadingOptionsBehind(given.split(' '), program)).toEqual(expected.split(' '));
  });
});
