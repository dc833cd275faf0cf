import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';

const BLOCK = 512;
/** Fields of a header in POSIX's ustar: where they begin, and how long they are. */
const SIZE = [124, 12] as const;
const TIME = [136, 12] as const;
const CHECKSUM = [148, 8] as const;

/**
 * Gives every file of a tar archive one time, so that one commit always gives the same bytes: Helm and buildah write the time at which
 * they pack. Also of an archive in gzip.
 */
export function setArchiveTimes(path: string, seconds: number): void {
  const read = readFileSync(path);
  const isZipped = read[0] === 0x1f && read[1] === 0x8b;
  const tar = isZipped ? gunzipSync(read) : read;
  for (let start = 0; start + BLOCK <= tar.length && tar[start] !== 0;) {
    const header = tar.subarray(start, start + BLOCK);
    // Larger sizes, and times in fractions, are in extended headers, which neither of the two writes for what a release holds.
    const size = Number.parseInt(field(header, SIZE), 8);
    if (!Number.isSafeInteger(size)) throw new Error(`${path} is no archive that can be read.`);
    header.write(octal(seconds, 11), TIME[0], 'latin1');
    header.write(' '.repeat(CHECKSUM[1]), CHECKSUM[0], 'latin1');
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${octal(sum, 6)}\0 `, CHECKSUM[0], 'latin1');
    start += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  writeFileSync(path, isZipped ? gzipSync(tar, { level: 9 }) : tar);
}

function field(header: Buffer, [start, length]: readonly [number, number]): string {
  return header.toString('latin1', start, start + length).replace(/[\0 ]+$/, '');
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
