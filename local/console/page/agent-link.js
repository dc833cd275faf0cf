import { agentOfUrl, hashOf } from './agent-address.js';
import { element } from './element.js';

/** A link to the agent of an entity URL; what is no such URL stays text. */
export function agentLink(url) {
  const agent = agentOfUrl(url);
  if (!agent) return element('span', {}, String(url));
  return element('a', { href: hashOf(agent), title: url }, `${agent.type}/${agent.id}`);
}
