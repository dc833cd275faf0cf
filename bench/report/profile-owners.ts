/** A function. Its line and column count from 0, and are -1 where it has no file. */
interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber: number;
}

/** The part of a CPU profile, as `node --cpu-prof` writes it, that says who was running. */
export interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame }[];
  /** The node of each sample, and the microseconds since the one before. */
  samples: number[];
  timeDeltas: number[];
}

/** The processor time of one owner. */
export interface OwnerTime {
  owner: string;
  /** Of the time in which the process was not idle. */
  share: number;
}

/** What V8 calls time in which no JavaScript ran: the kernel, libuv, the parser, and the loop itself. */
const NATIVE = 'kernel, and Node’s native code';
const COLLECTOR = 'V8’s garbage collector';

const START_ENDS_AFTER_IDLE_MICROS = 20_000;

const PSEUDO_FRAMES: Record<string, string | undefined> = {
  '(program)': NATIVE,
  '(root)': NATIVE,
  '(garbage collector)': COLLECTOR,
};

/** The first pattern that the address of a file has says whose it is. */
const OWNERS: readonly (readonly [RegExp, string])[] = [
  [/^node:_?http/, 'Node: HTTP'],
  [/^node:(?:net|internal\/(?:net|stream_base|streams))|^node:stream/, 'Node: sockets and streams'],
  [/^node:/, 'Node: the rest'],
  [
    /\/node_modules\/(?:@nestjs|rxjs|express|router|class-validator|class-transformer)\//,
    'Nest and Express',
  ],
  [/\/node_modules\/((?:@[^/]+\/)?[^/]+)\//, 'package $1'],
  [/\/src\/((?:platform|proxy)\/[^/.]+)\//, 'ours: $1'],
  [/\/src\/([^/.]+)\//, 'ours: $1'],
  [/\/src\/|\/dist\//, 'ours: the start'],
];

/**
 * Who used the processor, the most first. Time in which the process was idle is left out, and so is its start: all
 * that comes before it first was idle for 20 ms.
 */
export function ownersOf({ nodes, samples, timeDeltas }: CpuProfile): OwnerTime[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const micros = new Map<string, number>();
  let total = 0;
  let idle = 0;
  let hasStarted = false;
  samples.forEach((id, i) => {
    const frame = frames.get(id);
    const delta = Math.max(0, timeDeltas[i] ?? 0);
    idle = frame?.functionName === '(idle)' ? idle + delta : 0;
    hasStarted ||= idle >= START_ENDS_AFTER_IDLE_MICROS;
    if (!frame || idle > 0 || !hasStarted) return;
    const owner = ownerOf(frame);
    micros.set(owner, (micros.get(owner) ?? 0) + delta);
    total += delta;
  });
  return [...micros]
    .map(([owner, time]) => ({ owner, share: total === 0 ? 0 : time / total }))
    .sort((a, b) => b.share - a.share);
}

function ownerOf({ functionName, url }: CallFrame): string {
  const pseudo = PSEUDO_FRAMES[functionName];
  if (pseudo !== undefined && url === '') return pseudo;
  for (const [pattern, owner] of OWNERS) {
    const match = pattern.exec(url);
    if (match) return owner.replace('$1', match[1] ?? '');
  }
  // Functions of C++ and of V8's own have no address.
  return NATIVE;
}

/** A table in Markdown of several profiles side by side. Owners below half a percent in each are left out. */
export function ownersTable(profiles: Record<string, CpuProfile>): string {
  const names = Object.keys(profiles);
  const shares = new Map<string, Map<string, number>>();
  for (const [name, profile] of Object.entries(profiles)) {
    for (const { owner, share } of ownersOf(profile)) {
      const row = shares.get(owner) ?? new Map<string, number>();
      shares.set(owner, row.set(name, share));
    }
  }
  const sum = (row: Map<string, number>): number => [...row.values()].reduce((a, b) => a + b, 0);
  const rows = [...shares]
    .filter(([, row]) => [...row.values()].some((share) => share >= MIN_SHARE))
    .sort(([, a], [, b]) => sum(b) - sum(a))
    .map(([owner, row]) => line([owner, ...names.map((name) => percent(row.get(name) ?? 0))]));
  return [line(['', ...names]), line(['---', ...names.map(() => '---:')]), ...rows].join('\n');
}

const MIN_SHARE = 0.005;

function line(cells: string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
