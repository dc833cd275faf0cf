import { Refusal } from './refusal.ts';

/** What a page may ask for. Nothing else of a body goes any further. */

const MESSAGE = '{"content": [texts and files]}';
const MAX_WANTED = 100;
/** The gateway's rules for names, as `type/id`. */
const AGENT = /^[A-Za-z][\w.-]{0,62}\/[\w-][\w.~:@-]{0,127}$/;

/** A text or a file of a message. */
export type PagePart =
  | { type: 'text'; text: string }
  | { type: 'file'; url: string; mediaType: string; filename?: string };

/** The agents that a token is wanted for. A name that is none costs the others nothing. */
export function tokenOf(body: unknown): { agents: string[]; catalog: boolean } {
  const { agents = [], catalog = false, ...others } = fieldsOf(body);
  const isWhole =
    Array.isArray(agents) && agents.length <= MAX_WANTED && typeof catalog === 'boolean';
  if (!isWhole || isFilled(others)) throw invalid('{"agents", "catalog"?}');
  const names = agents.filter(
    (agent): agent is string => typeof agent === 'string' && AGENT.test(agent),
  );
  return { agents: names, catalog: catalog as boolean };
}

/** The content of a message. Its kind is not for a page to choose. */
export function contentOf(body: unknown): PagePart[] {
  const { kind = 'message', content, ...others } = fieldsOf(body);
  const isWhole = kind === 'message' && Array.isArray(content) && content.length > 0;
  if (!isWhole || isFilled(others)) throw invalid(MESSAGE);
  return content.map(partOf);
}

function partOf(part: unknown): PagePart {
  const { type, text, url, mediaType, filename } = fieldsOf(part);
  if (type === 'text' && typeof text === 'string') return { type, text };
  const isFile = type === 'file' && typeof url === 'string' && typeof mediaType === 'string';
  if (!isFile) throw invalid(MESSAGE);
  return { type: 'file', url, mediaType, ...(typeof filename === 'string' && { filename }) };
}

/** A parent or a workspace is not for a page to choose. */
export function spawnOf(body: unknown): { type: string; id: string; args: unknown } {
  const { type, id, args, ...others } = fieldsOf(body);
  const isWhole = typeof type === 'string' && typeof id === 'string' && AGENT.test(`${type}/${id}`);
  if (!isWhole || isFilled(others)) throw invalid('{"type", "id", "args"?}');
  return { type, id, args };
}

export function controlOf(body: unknown): { verb: string; reason?: string } {
  const { verb, reason, ...others } = fieldsOf(body);
  const isWhole = typeof verb === 'string' && isTextOrNothing(reason);
  if (!isWhole || isFilled(others)) throw invalid('{"verb", "reason"?}');
  return { verb, ...(reason !== undefined && { reason }) };
}

/** The turn that is to end, or to be found. */
export function turnOf(body: unknown): { invocationId: string; reason?: string } {
  const { invocationId, reason, ...others } = fieldsOf(body);
  const isWhole = isName(invocationId) && isTextOrNothing(reason);
  if (!isWhole || isFilled(others)) throw invalid('{"invocationId", "reason"?}');
  return { invocationId, ...(reason !== undefined && { reason }) };
}

/** A decision. A page does not choose its author, so `by` is ignored. */
export function decisionOf(body: unknown): {
  call: string;
  approved: boolean;
  note?: string;
  input?: unknown;
} {
  const { call, approved, note, input, by: _, ...others } = fieldsOf(body);
  const isWhole = isName(call) && typeof approved === 'boolean' && isTextOrNothing(note);
  if (!isWhole || isFilled(others)) throw invalid('{"call", "approved", "note"?, "input"?}');
  return {
    call,
    approved,
    ...(note !== undefined && { note }),
    ...(input !== undefined && { input }),
  };
}

function fieldsOf(body: unknown): Record<string, unknown> {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isObject ? (body as Record<string, unknown>) : {};
}

function isFilled(others: object): boolean {
  return Object.keys(others).length > 0;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isTextOrNothing(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function invalid(form: string): Refusal {
  return new Refusal(400, 'invalid_body', `Send ${form} and nothing else.`);
}
