import {
  entityIdProblem,
  entityTypeProblem,
  entityUrl,
  pathProblem,
  timelinePath,
} from '../gateway-rules.ts';
import { usageError } from '../cli-error.ts';
import type { Connection } from './connection.ts';

/** The default tenant of a gateway. */
export const DEFAULT_TENANT = 'default';

export interface Entity {
  /** Undefined means the gateway's own tenant. */
  tenant: string | undefined;
  type: string;
  id: string;
}

/** Reads `type/id` or an entity URL `/t/<tenant>/a/<type>/<id>`. Throws a usage error. */
export function parseEntity(text: string, { tenant }: Pick<Connection, 'tenant'>): Entity {
  const ofUrl = /^\/t\/([^/]+)\/a\/([^/]+)\/([^/]+)$/.exec(text);
  if (ofUrl) {
    const [, ofTenant, type = '', id = ''] = ofUrl;
    return { tenant: ofTenant, ...checked(type, id) };
  }
  const [type, id, ...rest] = text.split('/');
  if (!type || !id || rest.length > 0) {
    throw usageError(`"${text}" is no address: give type/id, such as assistant/ada.`);
  }
  return { tenant, ...checked(type, id) };
}

/** Throws a usage error if it is not an entity type. */
export function parseType(type: string): string {
  const problem = entityTypeProblem(type);
  if (problem) throw usageError(`The entity type "${type}" ${problem}.`);
  return type;
}

function checked(type: string, id: string): { type: string; id: string } {
  parseType(type);
  const idProblem = entityIdProblem(id);
  if (idProblem) throw usageError(`The entity id "${id}" ${idProblem}.`);
  return { type, id };
}

/** The address for the client library. It has a tenant only if the user named one. */
export function entityAddress({ tenant, type, id }: Entity): string {
  return tenant === undefined ? `${type}/${id}` : entityUrl({ tenant, type, id });
}

/** The path of an entity's timeline on the gateway. */
export function timelineTarget({ tenant = DEFAULT_TENANT, type, id }: Entity): string {
  return `/streams${timelinePath({ tenant, type, id })}`;
}

/**
 * The path on the gateway for an argument of `tail`: an entity, a stream's path with or without `/streams`, or its
 * URL on this gateway. Throws a usage error.
 */
export function streamTarget(text: string, connection: Connection): string {
  if (/^https?:/i.test(text)) {
    if (!text.startsWith(`${connection.url}/`)) {
      throw usageError(`"${text}" is not on the gateway at ${connection.url}.`);
    }
    return checkedPath(text.slice(connection.url.length), text);
  }
  if (!text.startsWith('/') || /^\/t\/[^/]+\/a\/[^/]+\/[^/]+$/.test(text)) {
    return timelineTarget(parseEntity(text, connection));
  }
  return checkedPath(text.startsWith('/streams/') ? text : `/streams${text}`, text);
}

function checkedPath(path: string, text: string): string {
  const problem = path.includes('?') ? 'has a query' : pathProblem(path);
  if (problem) throw usageError(`The path "${text}" ${problem}.`);
  if (!path.startsWith('/streams/')) throw usageError(`"${text}" is not below /streams/.`);
  return path;
}
