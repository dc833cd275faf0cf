/** The response header in which the upstream repeats the id of the request. */
export const ANSWER_FOR = 'x-answer-for';

export const EVENTS = 'text/event-stream';

/** What the body of an answer repeats. */
export function unitOf(id: string, isEvents: boolean): string {
  return isEvents
    ? `data: <${id}>\n\nevent: control\ndata: {"streamNextOffset":"<${id}>"}\n\n`
    : `<${id}>`;
}

/** So many bytes of a body that repeats a unit, from an offset on. */
export function repeated(unit: string, from: number, bytes: number): Buffer {
  const at = from % unit.length;
  return Buffer.alloc(bytes, unit.slice(at) + unit.slice(0, at));
}
