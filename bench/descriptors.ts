import { execFileSync } from 'node:child_process';

/** The limit of open files, connections included, of each process that the bench starts. */
export const DESCRIPTORS = openFilesLimit();

function openFilesLimit(): number {
  const text = execFileSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
}
