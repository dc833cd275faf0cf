import { isIP } from 'node:net';

/** RFC 6761 §6.3: these names are the machine itself, whether or not the file says so. */
const LOCALHOST = /^(?:.*\.)?localhost$/;
const LOOPBACK = ['127.0.0.1', '::1'];

/** The addresses that a hosts file (hosts(5)) gives a name in lower case, in its order. */
export function addressesInHosts(hosts: string, name: string): string[] {
  const lines = hosts.split('\n').map((line) => (line.split('#', 1)[0] ?? '').trim());
  const addresses = lines.flatMap((line) => {
    const [address = '', ...names] = line.split(/\s+/);
    const isNamed = names.some((each) => each.toLowerCase() === name);
    return isNamed && isIP(address) !== 0 ? [address] : [];
  });
  return addresses.length === 0 && LOCALHOST.test(name) ? LOOPBACK : addresses;
}
