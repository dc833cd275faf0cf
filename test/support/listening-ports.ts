import { readdir, readFile, readlink } from 'node:fs/promises';

/** A listener of TCP in /proc/net/tcp (proc(5)). */
const LISTEN = '0A';

/** The TCP ports on which these processes listen (Linux). */
export async function listeningPorts(pids: readonly number[]): Promise<number[]> {
  const sockets = new Set((await Promise.all(pids.map(socketsOf))).flat());
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8')),
  );
  const lines = tables.flatMap((table) => table.split('\n').slice(1));
  const ports = lines.flatMap((line) => {
    const [, address = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const isOurs = state === LISTEN && sockets.has(inode);
    return isOurs ? [Number.parseInt(address.split(':')[1] ?? '', 16)] : [];
  });
  return [...new Set(ports)].toSorted((a, b) => a - b);
}

async function socketsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder);
  // A file may be closed meanwhile.
  const targets = await Promise.all(names.map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
  return targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
}
