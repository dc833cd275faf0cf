/** The canonical shape of a message. */
export function messageOf(text: string): object {
  return { kind: 'message', content: [{ type: 'text', text }] };
}

/** Throws a TypeError for a value that JSON cannot represent. It would silently arrive as `{}`. */
export function bodyOf(message: unknown): [BodyInit, string] {
  if (typeof message === 'string') return [message, 'text/plain; charset=utf-8'];
  if (message instanceof Blob) return [message, message.type || 'application/octet-stream'];
  if (message instanceof ArrayBuffer || ArrayBuffer.isView(message)) {
    return [message as BufferSource, 'application/octet-stream'];
  }
  const json = isData(message) ? (JSON.stringify(message) as string | undefined) : undefined;
  if (json === undefined) {
    throw new TypeError('A message is text, bytes, or data that JSON can hold.');
  }
  return [json, 'application/json'];
}

/** Whether it has data of its own, unlike a stream or a form. */
function isData(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return true;
  // This also recognizes objects of another realm, such as a worker's.
  return (
    Object.prototype.toString.call(value) === '[object Object]' && !(Symbol.asyncIterator in value)
  );
}
