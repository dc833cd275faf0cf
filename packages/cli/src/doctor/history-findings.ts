import { EXIT } from '../exit-codes.ts';
import { bad, warning, type Finding } from './finding.ts';
import type { Probed } from './probe.ts';
import { upstreamFinding, UPSTREAMS } from './upstream-findings.ts';

/** The store's control plane. The Node server has it at its mount path only, and takes any other path for a stream. */
export const CONTROL_PLANE = '/streams/__ds/jwks.json';
const NO_SUCH_STREAM = 'Stream not found';

/** Whether the history store answered a read of a stream that does not exist. */
export function historyFinding(timeline: Probed): Finding {
  // A web server such as Caddy has an empty 200 for a path that none of its routes takes.
  const isOther =
    timeline.answered && timeline.status === 200 && !timeline.headers.has('stream-next-offset');
  if (!isOther) return upstreamFinding(UPSTREAMS.history, timeline, isStoreAnswer);
  return bad(
    UPSTREAMS.history.name,
    EXIT.unreachable,
    '200 without Stream-Next-Offset: what answers is no history store',
    'Has GATEWAY_HISTORY_URL of the gateway the mount path of the store, such as /v1/stream?',
  );
}

/**
 * A warning if the store takes its control plane for a stream. Its streams are then at other paths than those of programs
 * that use the mount path, and no read or write shows that.
 */
export function mountFindings(control: Probed): Finding[] {
  const isStream =
    control.answered &&
    control.status === 404 &&
    control.code === undefined &&
    control.text.trim() === NO_SUCH_STREAM;
  if (!isStream) return [];
  return [
    warning(
      'mount',
      'the history store takes its control plane, __ds, for a stream',
      'Has GATEWAY_HISTORY_URL of the gateway the mount path, such as /v1/stream? A store without subscriptions answers so, too.',
    ),
  ];
}

/** The store's own 404 means that it has no such stream, as expected. */
function isStoreAnswer(status: number, code: string | undefined): boolean {
  return status === 200 || (status === 404 && code === undefined);
}
