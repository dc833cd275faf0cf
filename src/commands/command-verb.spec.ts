import { describe, expect, it } from '@jest/globals';
import { readControl } from '../../packages/client/src/agent/command.ts';
import {
  CONTROL_VERBS as VERBS_OF_THE_LIBRARY,
  type ControlVerb,
} from '../../packages/client/src/events.ts';
import { CONTROL_VERBS } from './command-verb.ts';

type Known = (typeof CONTROL_VERBS)[number];

/** Neither compiles where the gateway knows a verb that the library does not, or the library one that the gateway refuses. */
const ofTheGateway: readonly ControlVerb[] = CONTROL_VERBS;
const ofTheLibrary: readonly Known[] = VERBS_OF_THE_LIBRARY;

// The library is a package of its own and cannot import the list of the gateway.
describe('the verbs', () => {
  it('are the same in the gateway and in the client library', () => {
    expect(ofTheLibrary).toEqual(ofTheGateway);
  });

  it.each(CONTROL_VERBS)('reach an agent of the library: %s', (verb) => {
    expect(readControl(Buffer.from(JSON.stringify({ verb })))).toEqual({ verb });
  });
});
