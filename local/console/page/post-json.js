/** An answer that is not 2xx; the message is the problem's detail (RFC 9457). */
export class RefusedError extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? `The answer was ${status}.`);
    this.status = status;
    this.code = problem?.code;
  }
}

/** Posts to our own back end. Throws a RefusedError, or a TypeError where there is no answer. */
export async function postJson(path, body, headers = {}) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new RefusedError(response.status, parse(text));
  return JSON.parse(text);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
