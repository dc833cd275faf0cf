import { describe, expect, it } from '@jest/globals';
import { HELP, PARTS, parseOptions } from './options.ts';

const options = (...args: string[]) => {
  const parsed = parseOptions(args);
  if (parsed === 'help') throw new Error('that asks for help');
  return parsed;
};

describe('options of the bench', () => {
  it('measure everything, with what the goals speak of, where nothing is asked for', () => {
    expect(options()).toEqual({
      only: PARTS,
      seconds: 3,
      warmUpRequests: 20_000,
      rounds: 3,
      connections: [64, 512],
      readers: [1_000, 5_000, 10_000],
      eventStreams: 5_000,
      events: 20,
      largeBytes: 1_073_741_824,
      shortRequests: 1_000_000,
      contenders: undefined,
      profile: false,
      add: false,
      render: false,
    });
  });

  it('take single amounts over those of --quick', () => {
    const { seconds, rounds, connections, readers } = options(
      '--quick',
      '--rounds=5',
      '--readers=10,20',
    );
    expect({ seconds, rounds, connections, readers }).toEqual({
      seconds: 1,
      rounds: 5,
      connections: [64],
      readers: [10, 20],
    });
  });

  it('choose parts and contenders', () => {
    const { only, contenders } = options('--only=plain,start', '--contenders=gateway,nginx');
    expect({ only, contenders }).toEqual({
      only: ['plain', 'start'],
      contenders: ['gateway', 'nginx'],
    });
  });

  it.each([
    ['--only=plain,speed', /^--only: there is no part "speed"; there are plain, tokens, same-url,/],
    ['--rounds=0', /^--rounds: "0" is no whole number above 0$/],
    ['--connections=64,many', /^--connections: "many" is no whole number above 0$/],
    ['--fast', /Unknown option '--fast'/],
  ])('refuse %s with a sentence', (arg, message) => {
    expect(() => parseOptions([arg])).toThrow(message);
  });

  it('are all in the help', () => {
    expect(parseOptions(['--help'])).toBe('help');
    const named = [...HELP.matchAll(/^ {2}--([a-z]+)/gm)].map(([, name]) => name);
    expect(named).toEqual([
      'only',
      'contenders',
      'connections',
      'readers',
      'seconds',
      'rounds',
      'quick',
      'smoke',
      'profile',
      'add',
      'render',
      'help',
    ]);
    for (const part of PARTS) expect(HELP).toContain(part);
  });
});
