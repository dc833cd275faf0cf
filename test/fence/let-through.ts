import { parseShapeScope } from '../../src/auth/shape-scope.ts';
import { GatewayError } from '../../src/platform/errors/gateway-error.ts';
import { shapeQuery } from '../../src/shapes/shape-query.ts';
import { TENANT } from './world.ts';

/** A client's request. Without `raw` the query is encoded like that of the real client. */
export interface Asked {
  where?: string;
  subset__where?: string;
  subset__order_by?: string;
  subset__params?: string;
  subset__limit?: string;
  subset__offset?: string;
  columns?: string;
  params?: readonly string[];
}

/** The query of a read of `entities`. */
export function queryOf({ params = [], ...asked }: Asked): string {
  const query = new URLSearchParams({ table: 'entities', offset: '-1' });
  for (const [name, value] of Object.entries(asked) as [string, string][]) query.set(name, value);
  params.forEach((value, i) => query.set(`params[${i + 1}]`, value));
  return `?${query.toString()}`;
}

/** The query that the gateway sends to the sync engine for a read token, or undefined if it refuses. */
export function letThrough(query: string, shape?: object): string | undefined {
  const readToken = {
    scope: [['shapes']],
    shape: shape && parseShapeScope(shape),
    expiresAtSeconds: Number.MAX_SAFE_INTEGER,
    subject: undefined,
    signedBy: 'secret:x',
    caller: { id: '', isSubject: false },
  };
  const shapes = { tables: ['entities'], tenantColumn: 'tenant' };
  try {
    const rules = { tenant: TENANT, shapes };
    return shapeQuery({ path: '/shapes/v1/shape', query }, readToken, rules, undefined);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
