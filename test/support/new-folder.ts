import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder, which goes with what is in it when it is stopped. */
export interface Folder {
  path: string;
  stop(): Promise<void>;
}

export async function newFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  return { path, stop: () => rm(path, { recursive: true, force: true }) };
}
