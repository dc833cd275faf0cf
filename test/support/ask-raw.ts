import { rawAnswer } from './raw-client.ts';

const REQUEST_ID = 'r1';

/** Sends a request with a bearer credential on a plain socket. Returns the status and the body; parses a problem. */
export async function askRaw(port: number, line: string, credential: string): Promise<object> {
  const headers = [`X-Request-Id: ${REQUEST_ID}`, `Authorization: Bearer ${credential}`];
  const { status, head, body } = await rawAnswer(port, line, headers);
  const isProblem = head.includes('application/problem+json') && body !== '';
  return { status, body: isProblem ? (JSON.parse(body) as unknown) : body };
}

/** The body of an error of the gateway. */
export function problem(
  status: number,
  code: string,
  title: string,
  detail: string,
  requestId = REQUEST_ID,
): object {
  return { type: `urn:agent-gateway:error:${code}`, title, status, detail, code, requestId };
}

/** The result of `askRaw` for an error of the gateway. */
export function problemAnswer(...[status, code, title, detail]: [number, string, string, string]): {
  status: number;
  body: object;
} {
  return { status, body: problem(status, code, title, detail) };
}
