/** What happens to the page or the machine around a reader. */
export interface PageWatcher {
  /** The page is hidden from now on. */
  onHidden: () => void;
  /** Connections may have died without a word: the page is shown again, the network is back, or the machine has slept. */
  onWake: () => void;
  /** Called once a second. */
  onTick: () => void;
}

const TICK_MS = 1_000;
/** A tick that is so much later than it should be means that the machine or the page stood still. */
const JUMP_MS = 5_000;
/** Not every runtime has these events. Those without them keep the jump of the clock. */
const WAKING = ['online', 'pageshow', 'focus'] as const;

const watchers = new Set<PageWatcher>();
let timer: ReturnType<typeof setInterval> | undefined;
let tickedAtMs = 0;

/** Whether the page is hidden. False where there is no page. */
export function isPageHidden(): boolean {
  return pageDocument()?.hidden === true;
}

/** Calls the watcher until the returned function is called. All watchers share the listeners and one timer. */
export function watchPage(watcher: PageWatcher): () => void {
  if (watchers.size === 0) listen();
  watchers.add(watcher);
  return () => {
    if (watchers.delete(watcher) && watchers.size === 0) stopListening();
  };
}

function listen(): void {
  tickedAtMs = Date.now();
  timer = setInterval(tick, TICK_MS);
  // A process of Node may end while a reader waits.
  (timer as { unref?: () => void }).unref?.();
  for (const type of WAKING) pageWindow()?.addEventListener(type, wake);
  pageDocument()?.addEventListener('visibilitychange', changeVisibility);
  pageDocument()?.addEventListener('resume', wake);
}

function stopListening(): void {
  clearInterval(timer);
  for (const type of WAKING) pageWindow()?.removeEventListener(type, wake);
  pageDocument()?.removeEventListener('visibilitychange', changeVisibility);
  pageDocument()?.removeEventListener('resume', wake);
}

function tick(): void {
  const lateMs = Date.now() - tickedAtMs - TICK_MS;
  tickedAtMs = Date.now();
  if (lateMs > JUMP_MS) wake();
  for (const { onTick } of watchers) onTick();
}

function changeVisibility(): void {
  if (!isPageHidden()) wake();
  else for (const { onHidden } of watchers) onHidden();
}

function wake(): void {
  for (const { onWake } of watchers) onWake();
}

function pageDocument(): Document | undefined {
  return typeof document === 'object' && typeof document.addEventListener === 'function'
    ? document
    : undefined;
}

/** Also the scope of a worker, which has some of the events. */
function pageWindow(): Pick<Window, 'addEventListener' | 'removeEventListener'> | undefined {
  return typeof globalThis.addEventListener === 'function' ? globalThis : undefined;
}
