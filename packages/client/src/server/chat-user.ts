import { entityOf, timelinePath } from '../address.ts';
import type { ControlVerb } from '../events.ts';
import type { ReadTokenRequest } from '../tokens.ts';

/** Who sent a request, and what is theirs. */
export interface ChatUser {
  /** The id of the user, for the rate and as the subject of read tokens. */
  subject: string;
  /** The agents that the user may read, spawn and send to, each `type/id`. At most 16, or 15 with a `catalog`. */
  agents: readonly string[];
  /** The verbs that the user may apply to them. Default `['interrupt']`. */
  verbs?: readonly ControlVerb[];
  /** The part of the catalog that the user may read, such as the rows with the user as owner. Default: nothing. */
  catalog?: NonNullable<ReadTokenRequest['shape']>;
}

const CATALOG_PATH = '/shapes/v1/shape';

/** The agents as `type/id`. Throws a TypeError for one that is none, or of another tenant. */
export function agentsOf({ agents }: ChatUser, tenant: string): Set<string> {
  return new Set(
    agents.map((address) => {
      const { tenant: own = tenant, type, id } = entityOf(address);
      if (own !== tenant) throw new TypeError(`"${address}" is an agent of another tenant.`);
      return `${type}/${id}`;
    }),
  );
}

/** What a read token of the user opens. */
export function prefixesOf(user: ChatUser, tenant: string): string[] {
  const agents = [...agentsOf(user, tenant)];
  const timelines = agents.map((agent) => timelinePath(agent, tenant).replace(/\/timeline$/, ''));
  return user.catalog ? [...timelines, CATALOG_PATH] : timelines;
}
