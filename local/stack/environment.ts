/** On one machine the gateway neither serves the network unasked nor waits long for the end. */
const DEFAULTS = { GATEWAY_HOST: '127.0.0.1', GATEWAY_DRAIN_TIMEOUT_MS: '2000' };

/**
 * What a part of the local system gets of the environment: no setting of a gateway, so that a shell with those of another
 * one in it changes nothing.
 */
export function environmentOfPart(outside: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passed = Object.entries(outside).filter(([name]) => !name.startsWith('GATEWAY_'));
  return Object.fromEntries(passed);
}

/** The only settings of the gateway that may come from outside. */
export function settingsFromOutside(outside: NodeJS.ProcessEnv): Record<string, string> {
  const settings = Object.entries(DEFAULTS).map(([name, value]) => [name, outside[name] ?? value]);
  return Object.fromEntries(settings) as Record<string, string>;
}
