import { CONTROL_VERBS, type ControlVerb } from '../events.ts';
import { isObject, isTooDeep, parseJson } from './json.ts';
import type { Json } from './json.ts';

/** A `control` command as the gateway sends it. */
export interface Control {
  verb: ControlVerb;
  reason?: string;
}

/** A `spawn` command as the gateway sends it. */
export interface Spawn {
  args?: Json;
  parent?: string;
  workspaceRef?: string;
}

// The gateway has checked both bodies. A direct caller of Restate's ingress may still send anything, so an invalid
// body is `undefined` here and never an exception (see message.ts).

/** The body of a `control` command, or undefined if it is not one. */
export function readControl(body: Uint8Array): Control | undefined {
  const value = readObject(body);
  if (!value || !isVerb(value.verb)) return undefined;
  return { verb: value.verb, ...textField(value, 'reason') };
}

/** The body of a `spawn` command, or undefined if it is not one. */
export function readSpawn(body: Uint8Array): Spawn | undefined {
  const value = readObject(body);
  if (value === undefined) return undefined;
  return {
    ...(value.args === undefined ? {} : { args: value.args }),
    ...textField(value, 'parent'),
    ...textField(value, 'workspaceRef'),
  };
}

function isVerb(verb: Json | undefined): verb is ControlVerb {
  return (CONTROL_VERBS as readonly unknown[]).includes(verb);
}

function readObject(body: Uint8Array): { [name: string]: Json } | undefined {
  try {
    const value = parseJson(body);
    return isObject(value) && !isTooDeep(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textField<Name extends string>(
  value: { [name: string]: Json },
  name: Name,
): { [name in Name]?: string } {
  const text = value[name];
  return (typeof text === 'string' ? { [name]: text } : {}) as { [name in Name]?: string };
}
