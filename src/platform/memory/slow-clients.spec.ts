import { describe, expect, it } from '@jest/globals';
import { Random } from '../../../test/soak/random.ts';
import { SlowClients, type SlowClient } from './slow-clients.ts';

const client = (): SlowClient => ({ shed: () => undefined });

function taken(list: SlowClients): SlowClient[] {
  const clients: SlowClient[] = [];
  while (list.slowest) {
    clients.push(list.slowest.client);
    list.delete(list.slowest.client);
  }
  return clients;
}

describe('SlowClients', () => {
  it('has who has been slow for longest first, whoever goes and comes again', () => {
    const random = new Random(7);
    const list = new SlowClients();
    const clients = Array.from({ length: 20 }, client);
    const expected: SlowClient[] = [];
    for (let step = 0; step < 2_000; step++) {
      const one = random.pick(clients as [SlowClient, ...SlowClient[]]);
      const at = expected.indexOf(one);
      if (random.next() < 0.5) {
        list.add(one, step);
        if (at === -1) expected.push(one);
      } else {
        list.delete(one);
        if (at !== -1) expected.splice(at, 1);
      }
      expect(list.slowest?.client).toBe(expected[0]);
    }
    expect(taken(list)).toEqual(expected);
    expect(list.slowest).toBeUndefined();
  });

  it('keeps the time of the first call', () => {
    const list = new SlowClients();
    const one = client();
    list.add(one, 1);
    list.add(one, 2);
    expect(list.slowest?.sinceMs).toBe(1);
  });
});
