import { spawn } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';

/** The size of an image: its files, its compressed layers, and its parts. */
export interface ImageSize {
  bytes: number;
  compressedBytes: number;
  parts: Record<string, number>;
}

export async function imageSize(root: string): Promise<ImageSize> {
  const tar = spawn('tar', ['-c', '-C', root, '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let compressedBytes = 0;
  for await (const chunk of tar.stdout.pipe(createGzip())) {
    compressedBytes += (chunk as Buffer).length;
  }
  const bytes = bytesBelow(root);
  const node = lstatSync(join(root, 'usr/local/bin/node')).size;
  const packages = bytesBelow(join(root, 'app/node_modules'));
  const gateway = bytesBelow(join(root, 'app/dist'));
  return {
    bytes,
    compressedBytes,
    parts: {
      'the program node': node,
      'packages that the gateway uses': packages,
      'the gateway': gateway,
      'libraries that node links': bytes - node - packages - gateway,
    },
  };
}

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true }) as string[];
  return files
    .map((file) => lstatSync(join(folder, file)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
