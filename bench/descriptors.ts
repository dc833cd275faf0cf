import { execFileSync } from 'node:child_process';

/** How many files, connections among them, a process that the bench starts may have open. */
export const DESCRIPTORS = openFilesLimit();

function openFilesLimit(): number {
  const text = execFileSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
}
