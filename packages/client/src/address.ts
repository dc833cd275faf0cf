import { checkedPath } from './path.ts';

/** An entity: `type/id`, its URL `/t/<tenant>/a/<type>/<id>`, or the result of `spawn`. */
export type EntityAddress = string | { readonly url: string };

const ENTITY_URL = /^\/t\/([^/]+)\/a\/([^/]+)\/([^/]+)$/;
/** The gateway's rules for names. A name that breaks them would change the path. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._~:@-]*$/;

export interface Entity {
  /** Undefined if the address names none. */
  tenant: string | undefined;
  type: string;
  id: string;
}

/** Throws a TypeError if it is not an address. */
export function entityOf(address: EntityAddress): Entity {
  const text = typeof address === 'string' ? address : address.url;
  const [, tenant, type, id] = ENTITY_URL.exec(text) ?? [
    undefined,
    undefined,
    ...text.split('/', 3),
  ];
  const isWhole = ENTITY_URL.test(text) || text.split('/').length === 2;
  if (!isWhole || !type || !id || ![tenant ?? 'x', type, id].every((name) => NAME.test(name))) {
    throw new TypeError(`"${text}" is no entity: give type/id or its URL.`);
  }
  return { tenant, type, id };
}

/** The path of a command. Throws a TypeError if the address is invalid. */
export function commandPath(address: EntityAddress, command: 'send' | 'control'): string {
  const { tenant, type, id } = entityOf(address);
  return `/api${tenant === undefined ? '' : `/t/${tenant}`}/a/${type}/${id}/${command}`;
}

/**
 * The path of a timeline on the gateway, from an entity, a path `/streams/…` or a `streamPath`. Throws a TypeError
 * for anything else.
 */
export function timelinePath(
  timeline: EntityAddress | { readonly streamUrl: string },
  tenant: string,
): string {
  if (typeof timeline === 'object' && 'streamUrl' in timeline) {
    // The URL is absolute if the gateway has a public URL. The request still goes to this client's gateway.
    return streamPath(timeline.streamUrl.replace(/^https?:\/\/[^/?#]*/, ''));
  }
  const text = typeof timeline === 'string' ? timeline : timeline.url;
  if (text.startsWith('/') && !ENTITY_URL.test(text)) return streamPath(text);
  return `${agentPrefix(text, tenant)}/timeline`;
}

/** The path below which an agent's streams are. Throws a TypeError if the address is invalid. */
export function agentPrefix(address: EntityAddress, tenant: string): string {
  const { tenant: own = tenant, type, id } = entityOf(address);
  return checkedPath(`/streams/t/${own}/agents/${type}/${id}`);
}

/**
 * The path of a stream on the gateway, given with or without `/streams`. Throws a TypeError if it is not a path below
 * that.
 */
export function streamPath(path: string): string {
  if (!/^\/./.test(path))
    throw new TypeError(`${JSON.stringify(path)} is not the path of a stream.`);
  return checkedPath(path.startsWith('/streams/') ? path : `/streams${path}`);
}
