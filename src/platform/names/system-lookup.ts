import { promises as dns } from 'node:dns';
import { within } from '../clock/within.ts';
import { systemText } from '../process/system-file.ts';
import { addressesInHosts } from './hosts-file.ts';
import { searchedNames } from './search-list.ts';

/** A second try, also at the next name server, within the time that a connection may take. */
const TRY_MS = 400;
const MAX_TRIES = 4;
/** RFC 8305 §3: how long to wait for addresses of the other family once there are some. */
const RESOLUTION_DELAY_MS = 50;

/** No address is known for the name. */
export class NameNotFound extends Error {
  readonly code = 'ENOTFOUND';
  /** Whether DNS said that there is none. Otherwise it gave no answer, or failed. */
  readonly isGone: boolean;

  constructor(name: string, errors: readonly NodeJS.ErrnoException[]) {
    super(`no address found for ${name}: ${errors.map(String).join(', ')}`);
    this.isGone = errors.every(({ code }) => GONE_CODES.has(code));
  }
}

/** The codes of c-ares for NXDOMAIN, and for a name without addresses of this family. */
const GONE_CODES: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA']);

/** The files of the system that say how names are found. */
export interface NameFiles {
  hosts: string;
  resolvConf: string;
}

const SYSTEM_FILES: NameFiles = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' };

/**
 * The addresses of a name: those in the hosts file, else those in DNS, IPv4 first. The C library's own look-up
 * (`getaddrinfo`) would block a thread of the process until the name server answers, and cannot be cancelled: two silent
 * names would hold up all others, and the end of the process. Rejects with `NameNotFound`, or when the signal aborts.
 */
export async function lookUp(
  name: string,
  signal: AbortSignal,
  files: NameFiles = SYSTEM_FILES,
): Promise<string[]> {
  const inHosts = addressesInHosts(systemText(files.hosts), name.replace(/\.$/, ''));
  if (inHosts.length > 0) return inHosts;
  // A new one reads the name servers again, which may have changed.
  const resolver = new dns.Resolver({ timeout: TRY_MS, tries: MAX_TRIES });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const errors: NodeJS.ErrnoException[] = [];
    for (const searched of searchedNames(systemText(files.resolvConf), name)) {
      signal.throwIfAborted();
      try {
        return await addressesOf(resolver, searched);
      } catch (error) {
        errors.push(...((error as AggregateError).errors as NodeJS.ErrnoException[]));
      }
    }
    throw new NameNotFound(name, errors);
  } finally {
    signal.removeEventListener('abort', cancel);
    resolver.cancel();
  }
}

/** Both families, or one of them if the other takes longer or has none. Rejects if none has an address. */
async function addressesOf(resolver: dns.Resolver, name: string): Promise<string[]> {
  const families = [resolver.resolve4(name), resolver.resolve6(name)];
  const first = await Promise.any(families);
  const found = await within(RESOLUTION_DELAY_MS, Promise.allSettled(families));
  return found
    ? found.flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
    : first;
}
