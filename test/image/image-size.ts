import { spawn } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';

/** How large an image is: its files, its layers as a registry keeps them, and the part under /app. */
export interface ImageSize {
  bytes: number;
  compressedBytes: number;
  applicationBytes: number;
}

export async function imageSize(root: string): Promise<ImageSize> {
  const tar = spawn('tar', ['-c', '-C', root, '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let compressedBytes = 0;
  for await (const chunk of tar.stdout.pipe(createGzip())) {
    compressedBytes += (chunk as Buffer).length;
  }
  return {
    bytes: bytesBelow(root),
    compressedBytes,
    applicationBytes: bytesBelow(join(root, 'app')),
  };
}

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true }) as string[];
  return files
    .map((file) => lstatSync(join(folder, file)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
