import type { Connection } from '../connection/connection.ts';
import { UNTRUSTED_HINT } from '../connection/failure.ts';
import { EXIT } from '../exit-codes.ts';
import { bad, ok, type Finding } from './finding.ts';
import { inWords, probe } from './probe.ts';

/** The gateway accepts read tokens issued up to 60 s ahead of its clock, and expires them to the second. */
const MAX_CLOCK_OFFSET_MS = 10_000;

/** Checks whether a gateway answers, and whether its clock agrees. Without a response the clock is not checked. */
export async function gatewayFindings(connection: Connection): Promise<Finding[]> {
  const { url, urlFrom } = connection;
  const askedAtMs = Date.now();
  const health = await probe({ ...connection, credential: undefined }, '/health');
  const where = `${url} (${urlFrom})`;
  if (!health.answered || health.status !== 200) {
    const hint =
      !health.answered && health.isUntrusted
        ? UNTRUSTED_HINT
        : 'Is the address right? Is the gateway running, and does a firewall let you through?';
    return [bad('gateway', EXIT.unreachable, `${where}: ${inWords(health)}`, hint)];
  }
  if (!isHealth(health.text)) {
    const hint = 'Something else answers at this address.';
    return [bad('gateway', EXIT.unreachable, `${where}: this is no agent gateway`, hint)];
  }
  const tookMs = Math.round(health.tookMs);
  return [
    ok('gateway', `${where} answers, in ${tookMs} ms`),
    ...clockFindings(health.headers.get('date'), askedAtMs + health.tookMs / 2),
  ];
}

function isHealth(text: string): boolean {
  try {
    return (JSON.parse(text) as { status?: unknown } | null)?.status === 'ok';
  } catch {
    return false;
  }
}

/** `Date` is cut to whole seconds, so on average it is half a second behind. */
export function clockFindings(date: string | null, localMs: number): Finding[] {
  const gatewayMs = Date.parse(date ?? '') + 500;
  if (Number.isNaN(gatewayMs)) return [];
  const offsetSeconds = Math.round((localMs - gatewayMs) / 1_000);
  const words =
    Math.abs(offsetSeconds) <= 1
      ? 'the same time here and there'
      : `${Math.abs(offsetSeconds)} s ${offsetSeconds > 0 ? 'ahead of' : 'behind'} the gateway's`;
  if (Math.abs(localMs - gatewayMs) <= MAX_CLOCK_OFFSET_MS) return [ok('clock', words)];
  const hint =
    'Set both clocks by NTP: a read token counts by the clock of the gateway, and one that was minted ' +
    'over 60 s ahead of it is refused.';
  return [bad('clock', EXIT.failed, words, hint)];
}
