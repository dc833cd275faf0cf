/** A body up to this size is sent in one piece with its head, because a copy costs less than a second piece. */
const MAX_JOINED_BODY_BYTES = 16_384;

/** A body in the form that Node can send in one write with its head: Node joins strings, but not buffers. */
export function joinedWithHead(body: Buffer): Buffer | string {
  return body.length <= MAX_JOINED_BODY_BYTES ? body.toString('latin1') : body;
}
