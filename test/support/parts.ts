interface Part {
  stop(): unknown;
}

/** Notes a part that has started, or will have, so that it is stopped in the end. */
export type Keep = <P extends Part>(part: P | Promise<P>) => Promise<P>;

/** Runs the work, and then stops the parts that it kept, in reverse order and however it ended. */
export async function withParts<T>(work: (keep: Keep) => Promise<T>): Promise<T> {
  const parts: Part[] = [];
  try {
    return await work(async (starting) => {
      const part = await starting;
      parts.push(part);
      return part;
    });
  } finally {
    for (const part of parts.reverse()) await part.stop();
  }
}
