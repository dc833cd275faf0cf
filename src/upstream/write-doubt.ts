import { GatewayError } from '../errors/gateway-error.ts';
import type { Upstream } from './upstreams.ts';

/**
 * The error of a write that was sent, in part at least, and whose answer is not had: it may have been made,
 * and made twice by a client that only reads "try again". Says so, and how to repeat it safely. That of a
 * request that changes nothing is given back as it is.
 */
export function inDoubt(
  error: GatewayError,
  { name }: Pick<Upstream, 'name'>,
  method: string | undefined,
): GatewayError {
  const advice = name === 'runtime-admin' ? REGISTRY_ADVICE : STREAM_ADVICE[method ?? ''];
  if (!advice || method === 'GET' || method === 'HEAD') return error;
  const what = error.code === 'upstream_unreachable' ? LOST : error.message;
  return new GatewayError(error.code, `${what} ${advice}`, { cause: error.cause });
}

const LOST = 'The connection to the server behind this route was lost before it answered.';

/** Durable Streams PROTOCOL.md, "Idempotent Producers", "Create Stream", "Delete Stream". */
const STREAM_ADVICE: Record<string, string> = {
  POST:
    'The append may have been made. With the same Producer-Id, Producer-Epoch and Producer-Seq it can be ' +
    'repeated safely; without them read the stream before you repeat it.',
  PUT: 'The stream may have been created. The same PUT can be repeated safely: it creates a stream once.',
  DELETE:
    'The stream may have been deleted. A DELETE can be repeated safely: 404 says that it is gone.',
};
const REGISTRY_ADVICE = 'The change may have been made. Look with GET before you repeat it.';
