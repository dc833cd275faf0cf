/** The JSON of each `data:` line of an event stream, and `[DONE]` as it is. */
export async function* dataOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
      if (data === '') continue;
      yield data === '[DONE]' ? data : JSON.parse(data);
    }
  }
}
