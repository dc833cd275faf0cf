import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { plainLine } from '../output/plain-text.ts';
import { bad, ok, skipped, type Finding } from './finding.ts';
import { inWords, PATIENCE_MS, type Probed } from './probe.ts';

/** A server behind the gateway, named by its route. */
export interface Upstream {
  name: string;
  what: string;
  setting: string;
  /** The setting of the credential that the gateway sends it. */
  credentialSetting: string;
}

export const UPSTREAMS = {
  runtime: {
    name: 'runtime',
    what: 'Restate',
    setting: 'GATEWAY_RUNTIME_INGRESS_URL',
    credentialSetting: 'GATEWAY_RUNTIME_INGRESS_TOKEN',
  },
  registry: {
    name: 'registry',
    what: "Restate's admin API",
    setting: 'GATEWAY_RUNTIME_ADMIN_URL',
    credentialSetting: 'GATEWAY_RUNTIME_ADMIN_TOKEN',
  },
  history: {
    name: 'history',
    what: 'the history store',
    setting: 'GATEWAY_HISTORY_URL',
    credentialSetting: 'GATEWAY_HISTORY_TOKEN',
  },
  catalog: {
    name: 'catalog',
    what: 'the sync engine',
    setting: 'GATEWAY_SYNC_URL',
    credentialSetting: 'GATEWAY_SYNC_SECRET',
  },
} as const satisfies Record<string, Upstream>;

/**
 * Whether a server behind the gateway answered. A server that refuses in its own way is available: `isAnswer` says
 * which answers are expected.
 */
export function upstreamFinding(
  upstream: Upstream,
  probed: Probed,
  isAnswer: (status: number, code: string | undefined) => boolean,
  more = '',
): Finding {
  const { name, what } = upstream;
  if (probed.answered && isAnswer(probed.status, probed.code)) {
    return ok(name, `${what} answers, in ${Math.round(probed.tookMs)} ms${more}`);
  }
  if (probed.answered && probed.code === 'scope_not_covered') {
    return skipped(name, 'the API key does not open it');
  }
  if (!probed.answered) {
    if (!probed.isLate) return bad(name, EXIT.unreachable, inWords(probed));
    // The gateway has just answered without it.
    const silence = `${what} has not answered in ${PATIENCE_MS / 1_000} s, and the gateway still waits for it`;
    return bad(name, EXIT.unreachable, silence, hintFor(upstream, 'upstream_timeout'));
  }
  return bad(name, exitCodeOf(probed.status), inWords(probed), hintFor(upstream, probed.code));
}

/** As `upstreamFinding`, for a 200 that another server may have given: a web server has one for any path. */
export function answeredFinding(
  upstream: Upstream,
  isItsOwn: boolean,
  probed: Probed,
  more = '',
): Finding {
  const { name, what, setting } = upstream;
  if (probed.answered && probed.status === 200 && !isItsOwn) {
    const hint = `Is ${setting} of the gateway right?`;
    return bad(name, EXIT.unreachable, `200, but what answers is not ${what}`, hint);
  }
  return upstreamFinding(upstream, probed, (status) => status === 200, more);
}

/** Whether the sync engine answered a read of the catalog. */
export function catalogFinding(probed: Probed): Finding {
  const isItsOwn = probed.answered && probed.headers.has('electric-handle');
  return answeredFinding(UPSTREAMS.catalog, isItsOwn, probed);
}

function hintFor({ what, setting, credentialSetting }: Upstream, code = ''): string {
  if (code === 'upstream_invalid_response') {
    return `Are ${setting} and ${credentialSetting} of the gateway right? Its log says what arrived.`;
  }
  return code.startsWith('upstream_')
    ? `Is ${what} running, and is ${setting} of the gateway right?`
    : `${plainLine(what)} is there, and refuses what the doctor asked; its log may tell why.`;
}

export function upstreamsSkipped(why: string): Finding[] {
  return Object.keys(UPSTREAMS).map((name) => skipped(name, why));
}
