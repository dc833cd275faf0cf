export interface FirstSteps {
  gatewayUrl: string;
  managementUrl: string;
  consoleUrl: string;
  /** The address to which your own agents write their rows. */
  catalogUrl: string;
  /** What they need for it. */
  catalogSecret: string;
  apiKey: string;
  readTokenSecret: string;
  /** The file that holds the export line. */
  environmentFile: string;
  /** What follows `npm run local --` to name this system. */
  options: string;
}

/**
 * The text after the start: the addresses, the key, a line that exports both to another shell, and four commands
 * that show a whole round through the gateway.
 */
export function firstSteps(system: FirstSteps): string {
  const { gatewayUrl, managementUrl, consoleUrl, apiKey } = system;
  const curl = `curl -sS -H 'Authorization: Bearer ${apiKey}'`;
  const json = `-H 'Content-Type: application/json'`;
  const message = `{"kind":"message","content":[{"type":"text","text":"Hello, who are you?"}]}`;
  const timeline = `${gatewayUrl}/streams/t/default/agents/assistant/ada/timeline`;
  return `
The gateway is at ${gatewayUrl}
Development API key: ${apiKey}
The console, to see it all in a browser: ${consoleUrl}
How it is: ${managementUrl}/health/ready

For another terminal, before you paste what the docs show:
  ${exportLine(system)}
(npm run local -- ${system.options}--env prints it again, and source ${system.environmentFile} takes it.)

Spawn an agent:
  ${curl} ${json} -d '{"type":"assistant","id":"ada"}' ${gatewayUrl}/api/spawn

Send it a message:
  ${curl} ${json} -d '${message}' ${gatewayUrl}/api/a/assistant/ada/send

Read its timeline (with -N and &live=sse: watch it):
  ${curl} '${timeline}?offset=-1'

Watch the catalog:
  ${curl} '${gatewayUrl}/shapes/v1/shape?table=entities&offset=-1'

Ctrl-C stops everything.
`;
}

/** The line by which another shell takes the address, the key and the secret. */
export function exportLine(system: FirstSteps): string {
  const { gatewayUrl, apiKey, readTokenSecret, catalogUrl, catalogSecret } = system;
  const variables = {
    GATEWAY_URL: gatewayUrl,
    GATEWAY_API_KEY: apiKey,
    GATEWAY_READ_TOKEN_SECRETS: readTokenSecret,
    CATALOG_URL: catalogUrl,
    CATALOG_TOKEN: catalogSecret,
  };
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return `export ${pairs.join(' ')}`;
}
