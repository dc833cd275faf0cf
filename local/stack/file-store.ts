import { open } from 'node:fs/promises';
import { DurableStreamTestServer, FileBackedStreamStore } from '@durable-streams/server';

/** The share of open files for streams. The rest is for connections, reads, and handles that are closing. */
const HANDLES_PER_OPEN_FILE = 0.25;
const MOST_HANDLES = 4_000;
/** With fewer handles, fifty agents at once could be too many. */
const FEW_OPEN_FILES = 1_024;

/** The used part of `FileHandlePool`. */
interface HandlePool {
  fsyncFile(path: string): Promise<void>;
}

interface FileStoreOptions extends NonNullable<
  ConstructorParameters<typeof DurableStreamTestServer>[0]
> {
  dataDir: string;
  maxFileHandles?: number;
}

/**
 * The server with a store on disk that answers every append it has made.
 *
 * With its default of 100 handles the store loses appends: it writes, meanwhile another stream pushes the handle out
 * of the pool, and the flush finds none. It answers 404 to an event that is in the file (seen in 0.3.7).
 */
export class FileStoreServer extends DurableStreamTestServer {
  override readonly store: FileBackedStreamStore;

  constructor({ dataDir, maxFileHandles, ...options }: FileStoreOptions) {
    super(options);
    const maxOpenFiles = openFileLimit();
    if (maxOpenFiles < FEW_OPEN_FILES) {
      console.warn(
        `this process may open ${maxOpenFiles} files, too few for many agents at once: raise the limit (ulimit -n)`,
      );
    }
    this.store = new CommittedStore({
      dataDir,
      maxFileHandles: maxFileHandles ?? handlesWithin(maxOpenFiles),
    });
    flushAlsoWithoutPool(Reflect.get(this.store, 'fileHandlePool') as HandlePool);
  }
}

/**
 * A store whose readers see only what is committed. The one it extends also gives them what it has written and not flushed yet,
 * beyond its own offset, and then its event stream steps back to that offset: the event comes twice (seen in 0.3.7).
 */
class CommittedStore extends FileBackedStreamStore {
  override read(path: string, offset?: string): ReturnType<FileBackedStreamStore['read']> {
    const end = this.getCurrentOffset(path) ?? '';
    const { messages, upToDate } = super.read(path, offset);
    // Offsets are numbers of a fixed width.
    return { messages: messages.filter((message) => message.offset <= end), upToDate };
  }
}

/** How many files the store may keep open, for a process with this limit. */
export function handlesWithin(maxOpenFiles: number): number {
  return Math.max(1, Math.min(MOST_HANDLES, Math.floor(maxOpenFiles * HANDLES_PER_OPEN_FILE)));
}

/**
 * If the handle of a flush is missing or closed, it flushes through a handle of its own: that flushes the data of
 * every handle of the file.
 */
function flushAlsoWithoutPool(pool: HandlePool): void {
  const fsyncFile = pool.fsyncFile.bind(pool);
  pool.fsyncFile = (path) =>
    fsyncFile(path).catch(async () => {
      const file = await open(path, 'r+');
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
    });
}

/** The soft limit, which Node raises to the hard one at its start. It also works without `/proc`. */
function openFileLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: UserLimits };
  const limit = Number(userLimits?.open_files?.soft ?? 'unlimited');
  return Number.isNaN(limit) ? Number.POSITIVE_INFINITY : limit;
}

interface UserLimits {
  open_files?: { soft: number | string };
}
