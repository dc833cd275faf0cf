import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const ROOT = `${import.meta.dirname}/../..`;

/** The commit under test for the report: its full hash, and a word if files differ from it. */
export async function commitUnderTest(): Promise<string> {
  try {
    const commit = (await git('rev-parse', 'HEAD')).trim();
    const isDirty = (await git('status', '--porcelain')) !== '';
    return isDirty ? `${commit}, dirty: with changes that are not committed` : commit;
  } catch {
    return 'unknown: this is no git repository';
  }
}

async function git(...args: string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: ROOT })).stdout;
}
