import { Refusal } from './refusal.ts';

/**
 * Reads a body of JSON. The rest of one that is refused stays unread: cancelling it would close the connection of a
 * Node server before the answer.
 */
export async function readJson(
  request: Request,
  maxBytes: number,
  timeoutMs: number,
): Promise<unknown> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const bytes = await readBytes(request, maxBytes, timeoutMs);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return JSON.parse(text) as unknown;
  } catch {
    throw new Refusal(400, 'invalid_body', 'Send JSON in UTF-8.');
  }
}

async function readBytes(
  request: Request,
  maxBytes: number,
  timeoutMs: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    // A read that waits rejects.
    reader.releaseLock();
  }, timeoutMs);
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.byteLength;
      if (length > maxBytes) throw tooLarge(maxBytes);
      chunks.push(value);
    }
  } catch (error) {
    if (isLate) throw new Refusal(408, 'body_timeout', 'The body did not arrive in time.');
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, 'invalid_body', 'The body broke off.');
  } finally {
    clearTimeout(timer);
    reader.releaseLock();
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, 'body_too_large', `Send at most ${maxBytes} bytes.`);
}
