import type { UIMessageChunk } from 'ai';

/** A stream of chunks whose reads end with it: at its end, at its failure, and when it is cancelled. */
export class ChunkStream {
  readonly #ended = new AbortController();
  #controller: ReadableStreamDefaultController<UIMessageChunk> | undefined;
  /** For the reads. */
  readonly signal: AbortSignal;

  constructor(signal: AbortSignal | undefined) {
    this.signal = AbortSignal.any([this.#ended.signal, ...(signal ? [signal] : [])]);
  }

  of(chunks: AsyncIterator<UIMessageChunk, void>): ReadableStream<UIMessageChunk> {
    const end = (): void => this.#ended.abort();
    const pull = async (controller: ReadableStreamDefaultController<UIMessageChunk>) => {
      const { value, done } = await chunks.next();
      if (!done) return controller.enqueue(value);
      controller.close();
      end();
    };
    return new ReadableStream<UIMessageChunk>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: (controller) =>
          pull(controller).catch((error: unknown) => {
            end();
            throw error;
          }),
        cancel: end,
      },
      // Nothing is taken from the answer before the page asks for it.
      { highWaterMark: 0 },
    );
  }

  /** Puts a chunk in front of what comes next. Does nothing if the stream has ended. */
  insert(chunk: UIMessageChunk): void {
    if (!this.signal.aborted) this.#controller?.enqueue(chunk);
  }
}
