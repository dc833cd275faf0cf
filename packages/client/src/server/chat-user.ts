import { agentPrefix, entityOf } from '../address.ts';
import type { ControlVerb } from '../events.ts';
import type { ReadTokenRequest } from '../tokens.ts';

/** Who sent a request, and what is theirs. */
export interface ChatUser {
  /** The id of the user, not empty: for the rates, and as the subject of all the user's read tokens, which the gateway counts. */
  subject: string;
  /** Whether the agent, always as `type/id`, is the user's: to read, to spawn and to send to. There may be any number. */
  owns: (agent: string) => boolean | Promise<boolean>;
  /**
   * The URL of an entity of the user's own, `/t/<tenant>/a/<type>/<id>`. It becomes the parent of every agent that the
   * user's pages spawn, so that a `catalog` can be pinned to it. It need not exist.
   */
  parent?: string;
  /** The verbs that the user may apply to the agents. Default `['interrupt']`. */
  verbs?: readonly ControlVerb[];
  /** The part of the catalog that the user may read, such as the rows whose `parent` is the user's. Default: nothing. */
  catalog?: NonNullable<ReadTokenRequest['shape']>;
}

const CATALOG_PATH = '/shapes/v1/shape';
/** There is nothing at this path, and every token needs one. */
const NOTHING = '/shapes/none';
const MAX_PREFIXES = 16;

/** Throws a TypeError for what is no user: a program without types could leave something out. */
export function checkedUser(user: ChatUser, tenant: string): ChatUser {
  const { subject, owns, parent } = user;
  // Tokens without a subject would count one by one.
  if (typeof subject !== 'string' || subject === '') {
    throw new TypeError(
      'authorize must give the id of the user as subject, a text that is not empty.',
    );
  }
  if (typeof owns !== 'function') {
    throw new TypeError('authorize must give owns, a function that judges an agent.');
  }
  if (parent !== undefined && entityOf(parent).tenant !== tenant) {
    throw new TypeError('parent must be the URL of an entity of this tenant.');
  }
  return user;
}

/**
 * What a read token opens, of the agents that the page asks for, the latest last: those that the user owns, 16 at most. A
 * token that opens nothing is given as well, so that the gateway refuses the read itself.
 */
export async function prefixesOf(
  user: ChatUser,
  wanted: { agents: readonly string[]; catalog: boolean },
  tenant: string,
): Promise<string[]> {
  const withCatalog = wanted.catalog && user.catalog !== undefined;
  const most = withCatalog ? MAX_PREFIXES - 1 : MAX_PREFIXES;
  const agents = [...new Set(wanted.agents)].slice(-most);
  const isOwn = await Promise.all(agents.map(async (agent) => user.owns(agent)));
  const own = agents.filter((_, index) => isOwn[index] === true);
  const prefixes = own.map((agent) => agentPrefix(agent, tenant));
  if (withCatalog) prefixes.push(CATALOG_PATH);
  return prefixes.length > 0 ? prefixes : [NOTHING];
}
