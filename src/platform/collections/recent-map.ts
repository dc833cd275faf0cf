/**
 * A map of the `maxEntries` entries last used, and at most twice as many.
 *
 * It consists of two maps. When the newer one is full, it becomes the older one, and what the older one held is dropped. An
 * entry that is used moves from the older map to the newer one. A use of an entry in the newer map writes nothing, as a
 * least recently used order would with every use.
 */
export class RecentMap<Value> {
  private readonly maxEntries: number;
  private newer = new Map<string, Value>();
  private older = new Map<string, Value>();

  constructor(maxEntries: number) {
    this.maxEntries = maxEntries;
  }

  get(key: string): Value | undefined {
    const newer = this.newer.get(key);
    if (newer !== undefined) return newer;
    const older = this.older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: string, value: Value): void {
    if (this.maxEntries <= 0) return;
    if (this.newer.size >= this.maxEntries && !this.newer.has(key)) {
      this.older = this.newer;
      this.newer = new Map();
    }
    this.newer.set(key, value);
  }

  delete(key: string): void {
    this.newer.delete(key);
    this.older.delete(key);
  }

  clear(): void {
    this.newer = new Map();
    this.older = new Map();
  }
}
