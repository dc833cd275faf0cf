import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run test:mutation -- FOLDER [--concurrency N] [--units-only]

Changes the code of FOLDER in small ways, such as src/shapes, and shows the changes that no test sees.
FOLDER may be a single file.
`;

export interface Options {
  /** A folder or a file of `src/`, relative to the project. */
  folder: string;
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
  const [folder, ...more] = positionals.map((path) => path.replace(/\/+$/, ''));
  if (!folder || more.length > 0) throw new Error('Name one folder.');
  if (!/^src(\/|$)/.test(folder)) throw new Error(`${folder} is not in src/.`);
  const concurrency = Number(values.concurrency);
  if (!(Number.isInteger(concurrency) && concurrency > 0)) {
    throw new Error('--concurrency must be a whole number from 1 on.');
  }
  return { folder, concurrency, unitsOnly: values['units-only'] };
}
