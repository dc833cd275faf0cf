import { describe, expect, it } from '@jest/globals';
import { ClientAddresses } from './client-address.ts';
import { ipNets } from './ip-nets.ts';

const addresses = new ClientAddresses(ipNets(['10.0.0.0/8', '2001:db8:1::/48', '127.0.0.1']));

function seen(remoteAddress: string | undefined, headers: Record<string, string> = {}) {
  return addresses.of({ headers, socket: { remoteAddress } });
}

const forwardedFor = (list: string) => seen('10.0.0.1', { 'x-forwarded-for': list });
const forwarded = (list: string) => seen('10.0.0.1', { forwarded: list });

describe('ClientAddresses', () => {
  it('takes the address of the connection without trusted proxies, whatever the headers say', () => {
    const headers = { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=192.0.2.9' };
    const none = new ClientAddresses();
    expect(none.of({ headers, socket: { remoteAddress: '10.0.0.1' } })).toBe('10.0.0.1');
    expect(seen('203.0.113.7', headers)).toBe('203.0.113.7');
    expect(seen(undefined, headers)).toBeUndefined();
  });

  it.each([
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
    ['fe80::1%eth0', 'fe80::1'],
    ['2001:db8::ffff:1:2', '2001:db8::ffff:1:2'],
  ])('shows %s as %s', (remoteAddress, expected) => {
    expect(seen(remoteAddress)).toBe(expected);
  });

  it('knows a trusted IPv4 proxy over a socket of IPv6', () => {
    expect(seen('::ffff:10.1.2.3', { 'x-forwarded-for': '192.0.2.9' })).toBe('192.0.2.9');
  });

  it.each([
    ['192.0.2.9', '192.0.2.9'],
    // What a client invented stands left of what the proxies wrote.
    ['198.51.100.1, 192.0.2.9', '192.0.2.9'],
    ['10.9.9.9, 192.0.2.9, 10.0.0.2,10.0.0.3', '192.0.2.9'],
    ['192.0.2.9:4711', '192.0.2.9'],
    ['[2001:db8:2::1]:4711', '2001:db8:2::1'],
    ['2001:db8:2::1, 2001:db8:1::7', '2001:db8:2::1'],
    ['::ffff:192.0.2.9', '192.0.2.9'],
    // Each is a trusted proxy: the first of them is where the request came from.
    ['10.0.0.2, 10.0.0.3', '10.0.0.2'],
    // No address: the last proxy that is known.
    ['192.0.2.9, unknown', '10.0.0.1'],
    ['192.0.2.9, <script>, 10.0.0.3', '10.0.0.3'],
    ['192.0.2.9,', '10.0.0.1'],
    ['', '10.0.0.1'],
    [',', '10.0.0.1'],
    ['1'.repeat(9_000), '10.0.0.1'],
  ])('reads X-Forwarded-For: %s', (list, expected) => {
    expect(forwardedFor(list)).toBe(expected);
  });

  it.each([
    ['for=192.0.2.9', '192.0.2.9'],
    ['proto=https;For="192.0.2.9:4711";by=10.0.0.1', '192.0.2.9'],
    ['for=198.51.100.1, for="[2001:db8:2::1]:80"', '2001:db8:2::1'],
    ['for=192.0.2.9, for=10.0.0.3;proto=http', '192.0.2.9'],
    // A quote that a client left open hides nothing that its proxy wrote.
    ['for="198.51.100.1, for=192.0.2.9', '192.0.2.9'],
    ['for=192.0.2.9, for=_hidden', '10.0.0.1'],
    ['for=192.0.2.9, by=10.0.0.3', '10.0.0.1'],
    ['xfor=192.0.2.9', '10.0.0.1'],
  ])('reads Forwarded: %s', (list, expected) => {
    expect(forwarded(list)).toBe(expected);
  });

  it('prefers X-Forwarded-For, which proxies set whether or not a client sends Forwarded', () => {
    const headers = { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=198.51.100.1' };
    expect(seen('10.0.0.1', headers)).toBe('192.0.2.9');
  });

  it('looks at 16 entries at most', () => {
    expect(forwardedFor(`192.0.2.9, ${Array(16).fill('10.0.0.2').join(', ')}`)).toBe('10.0.0.2');
    expect(forwardedFor(`192.0.2.9, ${Array(15).fill('10.0.0.2').join(', ')}`)).toBe('192.0.2.9');
  });
});
