import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DESCRIPTORS } from './descriptors.ts';
import { findProgram, type ProgramName } from './programs.ts';

/** The machine and the programs of a measurement. */
export interface Machine {
  processor: string;
  cores: number;
  memoryBytes: number;
  system: string;
  /** Files that a process may have open; connections count. */
  descriptors: number;
  /** Of the last minute before the run: anything near the number of cores has spoiled it. */
  loadBefore: number;
  /** Names and versions. */
  software: Record<string, string>;
}

export async function describeMachine(): Promise<Machine> {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    system: `${type()} ${release()} ${arch()}`,
    descriptors: Math.min(DESCRIPTORS, Number.MAX_SAFE_INTEGER),
    loadBefore: loadavg()[0] ?? 0,
    software: {
      node: process.versions.node,
      nginx: await version('nginx', ['-v'], /nginx\/([\d.]+)/),
      haproxy: await version('haproxy', ['-v'], /version ([\d.]+)/),
      wrk: await version('wrk', ['-v'], /wrk \S*?([\d.]+)/),
      ...(await packageVersions()),
    },
  };
}

async function version(program: ProgramName, args: string[], pattern: RegExp): Promise<string> {
  const path = findProgram(program);
  if (path === undefined) return 'missing';
  // wrk tells its version and exits with 1.
  const { stdout, stderr } = await promisify(execFile)(path, args).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  );
  return pattern.exec(stdout + stderr)?.[1] ?? 'unknown';
}

/** The versions of the Node proxies, the history store and Restate. */
async function packageVersions(): Promise<Record<string, string>> {
  const root = join(import.meta.dirname, '..');
  const [own, peers] = await Promise.all([
    lockedVersions(join(root, 'package-lock.json')),
    lockedVersions(join(import.meta.dirname, 'package-lock.json')),
  ]);
  const named = {
    own: ['undici', '@durable-streams/server', '@restatedev/restate-server'],
    peers: [
      '@fastify/http-proxy',
      'fast-proxy',
      'http2-proxy',
      'http-proxy',
      'http-proxy-middleware',
    ],
  };
  return Object.fromEntries([
    ...named.own.map((name) => [name, own(name)]),
    ...named.peers.map((name) => [name, peers(name)]),
  ]) as Record<string, string>;
}

async function lockedVersions(path: string): Promise<(name: string) => string> {
  const lock = JSON.parse(await readFile(path, 'utf8')) as {
    packages: Record<string, { version?: string } | undefined>;
  };
  return (name) => lock.packages[`node_modules/${name}`]?.version ?? 'unknown';
}
