import { BlockList, isIP } from 'node:net';

/** The longest text of an IPv6 address, with an IPv4 address at its end. */
const MAX_ADDRESS_LENGTH = 45;
const BITS = { ipv4: 32, ipv6: 128 };
const NET = /^([^/]+)(?:\/([1-9]\d{0,2}))?$/;
const MAPPED = /^(?:0{0,4}:){2,5}ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i;

/**
 * IP addresses and nets such as `10.0.0.0/8`. Undefined if a text is none. A net of all addresses is none: everybody would be
 * trusted. An IPv4 address is written as one, because it is compared as one.
 */
export function ipNets(texts: readonly string[]): BlockList | undefined {
  const nets = new BlockList();
  for (const text of texts) {
    const [, address = '', prefix] = NET.exec(text) ?? [];
    const family = familyOf(address);
    const bits = Number(prefix ?? BITS[family]);
    if (ipAddress(address) !== address || bits > BITS[family]) return undefined;
    nets.addSubnet(address, bits, family);
  }
  return nets;
}

/** An IP address without its zone, an IPv4 address that is mapped into IPv6 as IPv4. Undefined for any other text. */
export function ipAddress(text: string): string | undefined {
  if (text.length > MAX_ADDRESS_LENGTH) return undefined;
  const zoneAt = text.indexOf('%');
  const address = zoneAt === -1 ? text : text.slice(0, zoneAt);
  const version = isIP(address);
  if (version === 0) return undefined;
  if (version === 4) return address;
  const [, dotted, high, low] = MAPPED.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return address;
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}

/** The eight groups of an IPv6 address, without its zone. An IPv4 address at the end is two of them. */
export function ipv6Groups(address: string): number[] {
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const before = groupsOf(head);
  if (tail === undefined) return before;
  const behind = groupsOf(tail);
  return [...before, ...Array<number>(8 - before.length - behind.length).fill(0), ...behind];
}

function groupsOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return group.includes('.') ? [a * 256 + b, c * 256 + d] : [Number.parseInt(group, 16)];
  });
}

export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
