import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { collectGarbage } from './v8-flags.ts';

it('collects what nothing points to any more', async () => {
  const gone = new WeakRef({});
  // A weak reference keeps its object until the turn ends.
  await turn();
  collectGarbage();
  expect(gone.deref()).toBeUndefined();
});
