import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const MODULE = pathToFileURL(join(import.meta.dirname, 'process-memory.ts')).href;
const NO_GROUPS = '/nothing';

/** Opens files until there are none left, and looks at the memory again. */
const PROGRAM = `
  const { openSync } = await import('node:fs');
  const { processMemory } = await import('${MODULE}');
  const memories = [processMemory('${NO_GROUPS}', '${NO_GROUPS}'), processMemory()];
  for (const memory of memories) memory.usedBytes();
  let code;
  try { for (;;) openSync('/dev/null'); } catch (error) { code = error.code; }
  const known = memories.map((memory) => memory.usedBytes() > 0);
  process.stdout.write(JSON.stringify([code, ...known]));
`;

const ifLinux = process.platform === 'linux' ? it : it.skip;

describe('processMemory', () => {
  // The watch looks four times a second: to look threw, and ended a gateway that had run out of files.
  ifLinux('tells what it was where no file is left to look with', () => {
    const shell = 'ulimit -n 60; exec "$0" --no-warnings --input-type=module -e "$1"';
    const output = execFileSync('/bin/sh', ['-c', shell, process.execPath, PROGRAM]);
    expect(JSON.parse(output.toString())).toEqual(['EMFILE', true, true]);
  });
});
