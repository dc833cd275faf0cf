import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run test:mutation -- PATH... [--concurrency N] [--units-only]

Changes the code of a folder or a file, such as src/shapes, in small ways, and shows the changes that no test sees.
`;

export interface Options {
  /** Folders and files of `src/`, relative to the project. */
  paths: string[];
  /** The number of processes that run tests. */
  concurrency: number;
  /** Leaves out the second round, with the tests over HTTP. */
  unitsOnly: boolean;
}

/** Throws an `Error` with a message for the user. */
export function parseOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      concurrency: { type: 'string', default: '1' },
      'units-only': { type: 'boolean', default: false },
    },
  });
  const paths = positionals.map((path) => path.replace(/\/+$/, ''));
  if (paths.length === 0) throw new Error('Name a folder or a file.');
  const strange = paths.find((path) => !/^src(\/|$)/.test(path));
  if (strange !== undefined) throw new Error(`${strange} is not in src/.`);
  const concurrency = Number(values.concurrency);
  if (!(Number.isInteger(concurrency) && concurrency > 0)) {
    throw new Error('--concurrency must be a whole number from 1 on.');
  }
  return { paths, concurrency, unitsOnly: values['units-only'] };
}
