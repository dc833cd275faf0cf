import {
  checkReadAccess,
  GatewayError,
  isBelow,
  isReadPath,
  pathProblem,
  type ReadToken,
  shapeQuery,
} from './token-rules.ts';
import { tokenVerifier, type TokenSettings } from './token-settings.ts';

export interface CheckResult {
  isOpen: boolean;
  why: string;
}

/**
 * Whether a read token opens a GET of a path, which may have a query and an origin. The gateway's own code decides,
 * with these settings.
 */
export async function checkReadToken(
  token: string,
  target: string,
  settings: TokenSettings,
): Promise<CheckResult> {
  const [path = '', ...rest] = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?');
  const query = rest.length === 0 ? '' : `?${rest.join('?')}`;
  if (!isReadPath(path)) {
    return { isOpen: false, why: 'a read token opens paths below /streams/ and /shapes/ only.' };
  }
  const problem = pathProblem(path);
  if (problem) return { isOpen: false, why: `400 malformed_path. The path ${problem}.` };
  try {
    const readToken = await tokenVerifier(settings).verify(token);
    checkReadAccess(readToken, 'GET', path);
    if (isBelow(path, '/shapes')) checkShape(path, query, readToken, settings);
    const until = new Date(readToken.expiresAtSeconds * 1000).toISOString();
    return { isOpen: true, why: `until ${until}.` };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { isOpen: false, why: `${error.status} ${error.code}. ${error.message}` };
  }
}

function checkShape(
  path: string,
  query: string,
  readToken: ReadToken,
  { tenant, shapes }: TokenSettings,
): void {
  shapeQuery({ path, query }, readToken, { tenant, shapes }, undefined);
}
