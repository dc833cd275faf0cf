import type { AgentAddress } from './agent-address.ts';
import { element } from './element.ts';
import { readGateway, reasonOf, streamPrefix, type Settings } from './gateway.ts';
import { notice } from './notice.ts';

/** Saves all events of an agent as lines of JSON, in a file of the browser. */
export async function exportTimeline(settings: Settings, agent: AgentAddress): Promise<void> {
  const lines: string[] = [];
  const gateway = readGateway(settings, streamPrefix(settings, agent));
  try {
    for await (const line of gateway.agents.export(`${agent.type}/${agent.id}`)) lines.push(line);
  } catch (error) {
    return notice(`Not exported: ${reasonOf(error)}`, 'failed');
  }
  const href = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }));
  element('a', { href, download: `${agent.type}-${agent.id}.jsonl` }).click();
  URL.revokeObjectURL(href);
  notice(`Exported: ${lines.length} events of ${agent.type}/${agent.id}.`);
}
