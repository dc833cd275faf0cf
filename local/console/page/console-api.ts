/** A refusal by the console or by the gateway behind it. */
export class RefusedError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Answer<T> {
  body: T;
  requestId: string;
}

/** Posts JSON to the console, the page's own back end. Rejects with a `RefusedError`, or like `fetch`. */
export function post<T>(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  return ask<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** Gets JSON from the console. Rejects like `post`. */
export async function get<T>(path: string): Promise<T> {
  return (await ask<T>(path, {})).body;
}

async function ask<T>(path: string, init: RequestInit): Promise<Answer<T>> {
  const response = await fetch(path, init);
  const text = await response.text();
  const body = parse(text);
  if (!response.ok) {
    const { code, detail, message } = body as Record<string, unknown>;
    const said = [detail, message, text].find((part) => typeof part === 'string') as string;
    throw new RefusedError(
      response.status,
      typeof code === 'string' ? code : '',
      said.slice(0, 300),
    );
  }
  return { body: body as T, requestId: response.headers.get('x-request-id') ?? '' };
}

function parse(text: string): unknown {
  try {
    return (JSON.parse(text) as unknown) ?? {};
  } catch {
    return {};
  }
}
