import { parseRaw, rawRequest, sendRaw } from './raw-client.ts';

const REQUEST_ID = 'r1';

/** Sends a request with a bearer credential on a plain socket. Returns the status and the body; parses a problem. */
export async function askRaw(port: number, line: string, credential: string): Promise<object> {
  const headers = [`X-Request-Id: ${REQUEST_ID}`, `Authorization: Bearer ${credential}`];
  const { status, head, body } = parseRaw(await sendRaw(port, rawRequest(line, headers)));
  const isProblem = head.includes('application/problem+json') && body !== '';
  return { status, body: isProblem ? (JSON.parse(body) as unknown) : body };
}

/** The result of `askRaw` for an error of the gateway. */
export function problemAnswer(
  status: number,
  code: string,
  title: string,
  detail: string,
): { status: number; body: object } {
  const type = `urn:agent-gateway:error:${code}`;
  return { status, body: { type, title, status, detail, code, requestId: REQUEST_ID } };
}
