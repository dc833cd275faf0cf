interface Stoppable {
  stop(): Promise<void>;
}

/** The processes and servers that a part of the bench has started. */
export class Started {
  private readonly stoppables: Stoppable[] = [];

  /** Keeps it to be stopped, and gives it back. */
  add<Thing extends Stoppable>(thing: Thing): Thing {
    this.stoppables.push(thing);
    return thing;
  }

  /** The newest first: none loses what it depends on before it ends. */
  async stop(): Promise<void> {
    for (const thing of this.stoppables.splice(0).reverse()) await thing.stop();
  }
}

/** Runs a part of the bench, and afterwards stops everything that it has started. */
export async function withStarted<Result>(
  run: (started: Started) => Promise<Result>,
): Promise<Result> {
  const started = new Started();
  try {
    return await run(started);
  } finally {
    await started.stop();
  }
}
