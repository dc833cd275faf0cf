import { Refusal } from './refusal.ts';

export type ChatRoute =
  | { name: 'token' }
  | { name: 'spawn' }
  /** `agent` is `type/id`. */
  | { name: AgentRoute; agent: string };

export type AgentRoute = 'send' | 'control' | 'stop' | 'withdraw' | 'decision' | 'locate';

/** The gateway's rules for names. No percent sign is one, so a path has one spelling. */
const COMMAND =
  /^\/api(?:\/t\/(?<tenant>[A-Za-z0-9][\w-]{0,62}))?\/a\/(?<type>[A-Za-z][\w.-]{0,62})\/(?<id>[\w-][\w.~:@-]{0,127})\/(?<name>send|control|stop|withdraw|decision|locate)$/;

/** The route of a request. Throws for any other path, method or tenant. */
export function routeOf({ url, method }: Request, mount: string, tenant: string): ChatRoute {
  const { pathname } = new URL(url);
  const route = pathname.startsWith(`${mount}/`)
    ? routeBelow(pathname.slice(mount.length), tenant)
    : undefined;
  if (!route) throw new Refusal(404, 'route_not_found', 'There is nothing at this path.');
  if (method !== 'POST') throw new Refusal(405, 'method_not_allowed', 'Use POST.');
  return route;
}

function routeBelow(path: string, tenant: string): ChatRoute | undefined {
  if (path === '/token') return { name: 'token' };
  if (path === '/api/spawn') return { name: 'spawn' };
  const named = COMMAND.exec(path)?.groups;
  if (!named || (named.tenant ?? tenant) !== tenant) return undefined;
  return { name: named.name as AgentRoute, agent: `${named.type}/${named.id}` };
}
