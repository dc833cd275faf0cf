import { parseShape } from './shape-definition.ts';
import type { Shape } from './shape-definition.ts';
import { InvalidShapeRequest, parseChoice, parseFlag, readParameter } from './shape-parameters.ts';
import { parseSubset } from './subset.ts';
import type { Subset } from './subset.ts';

export interface ShapeRequest {
  readonly shape: Shape;
  /** `all` is `-1`; a number is the lsn of an offset `<lsn>_<op>`. */
  readonly offset: 'all' | 'now' | number;
  /** The offset as received. */
  readonly from: string;
  readonly handle: string;
  readonly live: 'long-poll' | 'sse' | undefined;
  readonly changesOnly: boolean;
  readonly cursor: string | undefined;
  readonly subset: Subset | undefined;
}

/** @throws InvalidShapeRequest */
export function parseShapeRequest(query: URLSearchParams): ShapeRequest {
  const from = readParameter(query, 'offset') ?? '';
  const offset = parseOffset(from);
  const handle = readParameter(query, 'handle') ?? '';
  // Electric treats any other value as true.
  const isLive = !['false', undefined].includes(readParameter(query, 'live'));
  const isSse = parseFlag(query, 'live_sse') || parseFlag(query, 'experimental_live_sse');
  if (typeof offset === 'number') {
    if (handle === '') throw new InvalidShapeRequest('handle', "can't be blank when offset != -1");
  } else if (isLive) {
    const name = offset === 'all' ? 'offset == -1' : "offset is 'now'";
    throw new InvalidShapeRequest('live', `can't be true when ${name}`);
  }
  if (isSse && !isLive) {
    throw new InvalidShapeRequest('live_sse', "can't be true unless live is also true");
  }
  const shape = parseShape(query);
  return {
    shape,
    offset,
    from,
    handle,
    live: isLive ? (isSse ? 'sse' : 'long-poll') : undefined,
    changesOnly: parseChoice(query, 'log', ['full', 'changes_only']) === 'changes_only',
    cursor: readParameter(query, 'cursor'),
    subset: parseSubset(query, shape),
  };
}

function parseOffset(value: string): ShapeRequest['offset'] {
  if (value === '') throw new InvalidShapeRequest('offset', "can't be blank");
  if (value === '-1') return 'all';
  if (value === 'now') return 'now';
  const lsn = /^([0-9]{1,15})_([0-9]+|inf)$/.exec(value)?.[1];
  if (lsn === undefined) throw new InvalidShapeRequest('offset', 'has invalid format');
  return Number(lsn);
}
