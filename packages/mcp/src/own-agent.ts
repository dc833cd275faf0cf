/** An entity URL, or `type/id`. The library checks the names. */
const ADDRESS = /^(?:\/t\/([^/]+)\/a\/)?([^/]+\/[^/]+)$/;

/**
 * The agent as `type/id`. Throws a TypeError for another tenant's, and for the path of any other stream: the key may open
 * more than the assistant was meant to see.
 */
export function ownAgent(address: string, tenant: string): string {
  const [, given = tenant, agent] = ADDRESS.exec(address) ?? [];
  if (agent === undefined) {
    throw new TypeError(
      `"${address}" is no agent: give type/id, such as assistant/ada, or its URL.`,
    );
  }
  if (given !== tenant) throw new TypeError(`"${address}" is not of the tenant ${tenant}.`);
  return agent;
}
