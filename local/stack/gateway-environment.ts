/** On one machine the gateway neither serves the network unasked nor waits long for the end. */
const DEFAULTS = { GATEWAY_HOST: '127.0.0.1', GATEWAY_DRAIN_TIMEOUT_MS: '2000' };

/**
 * What the gateway of the local system starts with: of its settings only those of `DEFAULTS` may come from outside, so that
 * a shell with other settings in it, such as those of a second gateway, changes nothing.
 */
export function gatewayEnvironment(
  outside: NodeJS.ProcessEnv,
  settings: Record<string, string | number>,
): Record<string, string | number | undefined> {
  const mayPass = (name: string): boolean => !name.startsWith('GATEWAY_') || name in DEFAULTS;
  const passed = Object.entries(outside).filter(([name]) => mayPass(name));
  return { ...DEFAULTS, ...Object.fromEntries(passed), ...settings };
}
