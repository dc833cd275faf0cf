import { BlockList, isIP } from 'node:net';

/** The longest text of an IPv6 address, with an IPv4 address at its end. */
const MAX_ADDRESS_LENGTH = 45;
const MAPPED = /^(?:0{0,4}:){2,5}ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i;

/** An address, or a net such as `10.0.0.0/8`. */
interface Net {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

/** IP addresses and nets. */
export class IpNets {
  private readonly list = new BlockList();

  /** Throws a plain Error for a text that is no net; see `isIpNet`. */
  constructor(nets: readonly string[]) {
    for (const text of nets) {
      const net = parseNet(text);
      if (!net) throw new Error(`${text} is no address and no net`);
      this.list.addSubnet(net.address, net.prefix, net.family);
    }
  }

  /** `address` is one of `ipAddress`. */
  has(address: string): boolean {
    return this.list.check(address, familyOf(address));
  }
}

/**
 * Whether a text is an IP address or a net. A net of all addresses is none: everybody would be trusted. An IPv4 address is
 * written as one, because it is compared as one.
 */
export function isIpNet(text: string): boolean {
  return parseNet(text) !== undefined;
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

function parseNet(text: string): Net | undefined {
  const [address = '', prefixText, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0 || ipAddress(address) !== address) return undefined;
  const bits = version === 4 ? 32 : 128;
  if (prefixText === undefined) return { address, prefix: bits, family: familyOf(address) };
  if (!/^[1-9]\d{0,2}$/.test(prefixText) || Number(prefixText) > bits) return undefined;
  return { address, prefix: Number(prefixText), family: familyOf(address) };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
