/** The console's address, and four lines for a shell that show the whole round through the gateway. */
export function firstSteps(
  baseUrl: string,
  apiKey: string,
  tenant: string,
  consoleUrl: string,
): string {
  const curl = `curl -sS -H 'Authorization: Bearer ${apiKey}'`;
  const json = `-H 'Content-Type: application/json'`;
  const message = `{"kind":"message","content":[{"type":"text","text":"Hello, who are you?"}]}`;
  const timeline = `${baseUrl}/streams/t/${tenant}/agents/assistant/ada/timeline`;
  return `
The gateway is at ${baseUrl}
Development API key: ${apiKey}
The console, to see it all in a browser: ${consoleUrl}

Spawn an agent:
  ${curl} ${json} -d '{"type":"assistant","id":"ada"}' ${baseUrl}/api/spawn

Send it a message:
  ${curl} ${json} -d '${message}' ${baseUrl}/api/a/assistant/ada/send

Read its timeline (with -N and &live=sse: watch it):
  ${curl} '${timeline}?offset=-1'

Watch the catalog:
  ${curl} '${baseUrl}/shapes/v1/shape?table=entities&offset=-1'

Ctrl-C stops everything.
`;
}
