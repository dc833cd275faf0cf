/** Lets any number of tests wait for what one object notes. */
export class Changes {
  private readonly looks = new Set<() => void>();

  /** Something has changed: everybody who waits looks again. */
  tell(): void {
    for (const look of this.looks) look();
  }

  /** Resolves with what is found, now or at some change. */
  found<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        this.looks.delete(look);
        resolve(found);
      };
      this.looks.add(look);
      look();
    });
  }

  /** Resolves once it holds. */
  async until(holds: () => boolean): Promise<void> {
    await this.found(() => holds() || undefined);
  }
}
