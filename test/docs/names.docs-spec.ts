import { describe, expect, it } from '@jest/globals';
import { Environment } from '../../src/contract/environment.ts';
import { ERROR_CODES } from '../../src/platform/errors/error-codes.ts';
import { isInProject, projectFiles, readPages, readProjectFile } from './pages.ts';

const pages = readPages();
const settings = new Set(Object.keys(new Environment()));
/** Names that are not settings of the gateway: those of its clients, of the Compose file, and a former setting. */
const OTHER_VARIABLES = new Set([
  'GATEWAY_URL',
  'GATEWAY_API_KEY',
  'GATEWAY_LISTEN',
  'GATEWAY_RUNTIME_TOKEN',
]);

const FILE_NAME = /^(?:src|test|docs|local|helm|deploy|bench|tools|packages|\.ci)\/[\w./-]*$/;
/** A release is written there. */
const RELEASE = 'tools/release/out';
/** The table of changes leaves `src/` out. */
const inSrc = (word: string): string =>
  word.replace(/^(?=(?:auth|commands|platform|proxy)\/)/, 'src/');

/** A folder of the code that CONTRIBUTING.md explains. */
const ROOM =
  /^(?:src\/(?:proxy|platform)\/[\w-]+|src\/[\w-]+|(?:packages|tools)\/[\w-]+|bench|deploy|helm|local|test)\//;

/** Each match in the pages that is not a known name, with its page. */
function unknown(pattern: RegExp, isKnown: (name: string) => boolean): string[] {
  return pages.flatMap(({ path }) =>
    [...readProjectFile(path).matchAll(pattern)]
      .map(([, name = '']) => name)
      .filter((name) => !isKnown(name))
      .map((name) => `${path}: ${name}`),
  );
}

describe('names in the pages', () => {
  it('of settings are settings', () => {
    const isKnown = (name: string): boolean =>
      settings.has(name) || OTHER_VARIABLES.has(name) || name === 'GATEWAY_';
    // `GATEWAY_MAX_*` stands for those that begin so.
    const begins = (name: string): boolean =>
      name.endsWith('_') && [...settings].some((setting) => setting.startsWith(name));
    expect(unknown(/\b(GATEWAY_[A-Z_]*)/g, (name) => isKnown(name) || begins(name))).toEqual([]);
  });

  it('of npm scripts are scripts', () => {
    const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: object };
    const isScript = (name: string): boolean => name in scripts;
    expect(unknown(/\bnpm run (?:--silent )?([\w:-]+)/g, isScript)).toEqual([]);
    expect(isScript('soak')).toBe(true);
  });

  it('of files and folders are there', () => {
    const files = projectFiles();
    const missing = pages.flatMap(({ path, codeSpans }) =>
      codeSpans
        .flatMap(({ text, line }) => text.split(' ').map((word) => ({ word, line })))
        .map(({ word, line }) => ({ line, word: path === 'CONTRIBUTING.md' ? inSrc(word) : word }))
        .filter(({ word }) => FILE_NAME.test(word) && word !== RELEASE)
        .filter(({ word }) => !isInProject(word.replace(/\/$/, ''), files))
        .map(({ word, line }) => `${path}:${line}: ${word}`),
    );
    expect(missing).toEqual([]);
  });

  it('of error codes are codes, wherever a status stands before one', () => {
    expect(unknown(/\b[45]\d\d `([a-z_]+)`/g, (code) => code in ERROR_CODES)).toEqual([]);
  });
});

describe('CONTRIBUTING.md', () => {
  it('says of every room what it holds', () => {
    const rooms = projectFiles().flatMap((path) => {
      const [room] = ROOM.exec(path) ?? [];
      // Those of src/platform/ have a table of their own.
      return room === undefined ? [] : [room.replace(/^src\/platform\/(?=.)/, '`')];
    });
    const named = readProjectFile('CONTRIBUTING.md');
    expect([...new Set(rooms)].filter((room) => !named.includes(room))).toEqual([]);
    expect(rooms).toEqual(expect.arrayContaining(['`clock/', 'src/proxy/reads/', 'tools/llms/']));
  });

  it('names every suite that CI runs', () => {
    const suites = [
      ...readProjectFile('.ci/run').matchAll(/npm run --silent ((?:test|openapi)[\w:]*)/g),
    ];
    const named = readProjectFile('CONTRIBUTING.md');
    expect(suites.map(([, name = '']) => name).filter((name) => !named.includes(name))).toEqual([]);
  });
});

describe('docs/troubleshooting.md', () => {
  const rows = [
    ...readProjectFile('docs/troubleshooting.md').matchAll(
      /^\| ([45]\d\d `[a-z_]+`) *\| *([^|]+?) *\| *([^|]+?) *\|$/gm,
    ),
  ];

  it('says of every error code, with its status, what causes it and what to do', () => {
    const known = Object.entries(ERROR_CODES).map(([code, { status }]) => `${status} \`${code}\``);
    expect(rows.map(([, error]) => error)).toEqual(known);
    for (const [, , cause, remedy] of rows) {
      expect([cause, remedy]).toEqual([
        expect.stringMatching(/\w{3}/),
        expect.stringMatching(/\w{3}/),
      ]);
    }
  });
});
