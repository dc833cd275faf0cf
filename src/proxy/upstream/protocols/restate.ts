import { isReadMethod } from '../../../platform/http/client-request.ts';
import type { UpstreamProtocol } from './upstream-protocol.ts';

/** Restate's admin API. */
export const restateAdmin: UpstreamProtocol = {
  doubtOf: (method = '') => (isReadMethod(method) ? undefined : CHANGE_ADVICE),
};

/** Restate's ingress. Only commands are sent to it. */
export const restateIngress: UpstreamProtocol = {
  serverName: 'runtime',

  /** The text does not say "try again", because the runtime may have the command and would run it twice. */
  doubtOf: () => COMMAND_ADVICE,
};

const CHANGE_ADVICE = '. The change may have been made. Look with GET before you repeat it.';
const COMMAND_ADVICE =
  '; nothing is known of the command. With an Idempotency-Key it can be repeated safely.';
