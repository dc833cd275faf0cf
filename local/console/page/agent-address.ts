import { element } from './element.ts';

export interface AgentAddress {
  type: string;
  id: string;
}

// Types and ids that the gateway accepts. They need no encoding in a path.
const AGENT = /([A-Za-z][\w.-]*)\/([\w-][\w.~:@-]*)$/.source;
const URL_PATTERN = new RegExp(`^/t/[\\w-]+/a/${AGENT}`);
const TARGET_PATTERN = new RegExp(`^${AGENT.slice(0, -1)}/\\w+$`);
const HASH_PATTERN = new RegExp(`^#/${AGENT}`);

/** The agent of an entity URL, `/t/<tenant>/a/<type>/<id>`, or undefined if it is none. */
export function agentOfUrl(url: string): AgentAddress | undefined {
  return agentOf(URL_PATTERN.exec(url));
}

/** The agent of this page's address, `#/<type>/<id>`, or undefined if it names none. */
export function agentOfHash(hash: string): AgentAddress | undefined {
  return agentOf(HASH_PATTERN.exec(hash));
}

/** The agent of an invocation's target, `<type>/<id>/<handler>`, or undefined if it is no object's. */
export function agentOfTarget(target: string): AgentAddress | undefined {
  return agentOf(TARGET_PATTERN.exec(target));
}

export function hashOf({ type, id }: AgentAddress): string {
  return `#/${type}/${id}`;
}

/** A link to the agent of an entity URL. Other text stays text. */
export function agentLink(url: string): HTMLElement {
  const agent = agentOfUrl(url);
  if (!agent) return element('span', {}, url);
  return element('a', { href: hashOf(agent), title: url }, `${agent.type}/${agent.id}`);
}

function agentOf(match: RegExpExecArray | null): AgentAddress | undefined {
  const [, type, id] = match ?? [];
  return type === undefined || id === undefined ? undefined : { type, id };
}
