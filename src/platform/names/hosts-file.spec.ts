import { describe, expect, it } from '@jest/globals';
import { addressesInHosts } from './hosts-file.ts';

const HOSTS = `
127.0.0.1	localhost
# 10.0.0.9 history
10.0.0.1 History history.internal # the store
10.0.0.2\thistory
fe80::1%lo0 history
::2   history
not-an-address history
`;

describe('addressesInHosts', () => {
  it.each([
    ['history', ['10.0.0.1', '10.0.0.2', 'fe80::1%lo0', '::2']],
    ['history.internal', ['10.0.0.1']],
    ['localhost', ['127.0.0.1']],
    ['store', []],
    ['10.0.0.1', []],
    ['hist', []],
    ['', []],
  ])('gives %j %j', (name, addresses) => {
    expect(addressesInHosts(HOSTS, name)).toEqual(addresses);
  });

  it.each(['localhost', 'agents.localhost'])(
    'gives %s this machine in a file without it',
    (name) => {
      expect(addressesInHosts('', name)).toEqual(['127.0.0.1', '::1']);
    },
  );

  it('gives no other name this machine', () => {
    expect(addressesInHosts('', 'notlocalhost')).toEqual([]);
  });
});
