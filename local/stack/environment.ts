/** On a developer's machine the gateway does not serve the network by default, and stops quickly. */
const DEFAULTS = { GATEWAY_HOST: '127.0.0.1', GATEWAY_DRAIN_TIMEOUT_MS: '2000' };

/**
 * The environment of a part of the local system, without settings of a gateway: those of a shell must not change
 * it.
 */
export function environmentOfPart(outside: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passed = Object.entries(outside).filter(([name]) => !name.startsWith('GATEWAY_'));
  return Object.fromEntries(passed);
}

/** The only gateway settings that may come from outside. */
export function settingsFromOutside(outside: NodeJS.ProcessEnv): Record<string, string> {
  const settings = Object.entries(DEFAULTS).map(([name, value]) => [name, outside[name] ?? value]);
  return Object.fromEntries(settings) as Record<string, string>;
}
