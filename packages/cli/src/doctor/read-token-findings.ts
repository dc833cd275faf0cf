import { decodeJwt } from 'jose';
import type { Connection } from '../connection/connection.ts';
import { EXIT } from '../exit-codes.ts';
import { localTime } from '../output/local-time.ts';
import { bad, ok, skipped, type Finding } from './finding.ts';
import { historyFinding } from './history-findings.ts';
import { inWords, isRefused, probe } from './probe.ts';
import { catalogFinding, upstreamsSkipped } from './upstream-findings.ts';

type Claims = Record<string, unknown>;

/** The unverified claims of a read token, or undefined for anything else, such as an API key. */
export function readTokenClaims(credential: string): Claims | undefined {
  try {
    return { ...decodeJwt(credential) };
  } catch {
    return undefined;
  }
}

/** Checks whether a read token works, and which of the upstreams that it opens answer. */
export async function readTokenFindings(
  connection: Connection,
  claims: Claims,
): Promise<Finding[]> {
  const prefixes = [claims.prefix].flat().filter((prefix) => typeof prefix === 'string');
  const streams = prefixes.find((prefix) => /^\/streams(?:\/|$)/.test(prefix));
  const shapes = prefixes.some((prefix) => /^\/shapes(?:\/|$)/.test(prefix));
  const [timeline, catalog] = await Promise.all([
    streams === undefined ? undefined : probe(connection, pathBelow(streams)),
    shapes ? probe(connection, `/shapes/v1/shape?${shapeQuery(claims.shape)}`) : undefined,
  ]);
  const from = connection.credential?.from;
  const refused = [timeline, catalog].find((probed) => probed && isRefused(probed));
  if (refused) {
    const hint = `It is the read token from ${from}; agent-gateway token inspect says more of it.`;
    return [
      bad('key', EXIT.refused, inWords(refused), hint),
      ...upstreamsSkipped('not asked without a key that works'),
    ];
  }
  const none = (name: string): Finding => skipped(name, 'not opened by this read token');
  return [
    ok('key', `the read token from ${from} works${untilWhen(claims.exp)}`),
    none('runtime'),
    none('registry'),
    timeline ? historyFinding(timeline) : none('history'),
    catalog ? catalogFinding(catalog) : none('catalog'),
  ];
}

/** A stream below an unused prefix. If the store is available, it says that there is none. */
function pathBelow(prefix: string): string {
  return `${prefix.replace(/\/$/, '')}/agent-gateway-doctor?offset=now`;
}

/** The request must repeat exactly what the token pins. */
function shapeQuery(shape: unknown): string {
  const { table, where, params, columns } = (shape ?? {}) as Record<string, unknown>;
  const query = new URLSearchParams({ offset: 'now' });
  query.set('table', typeof table === 'string' ? table : 'entities');
  if (typeof where === 'string') query.set('where', where);
  // The parameters as the client writes them.
  for (const [number, value] of Object.entries(params ?? {})) {
    query.set(`params[${number}]`, String(value));
  }
  // Names are quoted, because SQL folds unquoted names to lower case.
  if (Array.isArray(columns)) {
    query.set('columns', columns.map((column) => `"${String(column)}"`).join(','));
  }
  return query.toString();
}

function untilWhen(exp: unknown): string {
  const time = typeof exp === 'number' ? localTime(exp * 1_000) : undefined;
  return time === undefined ? '' : `, until ${time}`;
}
