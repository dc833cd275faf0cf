import { join } from 'node:path';
import express, {
  type ErrorRequestHandler,
  type Request as PageRequest,
  type RequestHandler,
  type Response as PageResponse,
} from 'express';
import { AgentGateway } from '@agent-gateway/client';
import { chatBackEnd } from '@agent-gateway/client/server';
import { answer } from './node-adapter.ts';
import { signed, userOf } from './session.ts';

const { GATEWAY_URL = '', GATEWAY_API_KEY = '', GATEWAY_READ_TOKEN_SECRETS = '' } = process.env;
const { AGENT = 'assistant', TOKEN_TTL_SECONDS = '300', PORT = '3000' } = process.env;
/** The type of the chats, and that of the agents that they ask: the id of such a one begins with that of its chat. */
const TYPES = [AGENT, 'researcher'];
const OWN_HOST = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

const gateway = new AgentGateway({ url: GATEWAY_URL, apiKey: GATEWAY_API_KEY });

/** The user's part of the catalog: the chats whose parent is the user. */
function catalogOf(parent: string) {
  const columns = ['url', 'status', 'updated_at'];
  return { table: 'entities', where: 'parent = $1', params: [parent], columns };
}

/** What belongs to a user. A name has no hyphen, so no user's chats look like another's. Your product asks its database. */
function ownOf(user: string) {
  const parent = `/t/${gateway.tenant}/a/user/${user}`;
  return {
    owns: (agent: string) => TYPES.some((type) => agent.startsWith(`${type}/${user}-`)),
    parent,
    catalog: catalogOf(parent),
  };
}

const chat = chatBackEnd({
  gateway,
  readTokenSecret: GATEWAY_READ_TOKEN_SECRETS.split(',')[0] ?? '',
  ttlSeconds: Number(TOKEN_TTL_SECONDS),
  authorize: ({ headers }) => {
    const user = userOf(headers.get('cookie'));
    return user !== undefined && { subject: user, ...ownOf(user) };
  },
});

function tell(response: PageResponse, user: string | undefined): void {
  response.set('cache-control', 'no-store');
  if (user === undefined) response.json({});
  else {
    const { catalog } = ownOf(user);
    response.json({ user, gatewayUrl: GATEWAY_URL, agentType: AGENT, catalog });
  }
}

/** Signing in is only pretended: whoever names a user is that user. Put your own sign-in here. */
function signIn({ body, secure }: PageRequest, response: PageResponse): void {
  const { name } = (body ?? {}) as { name?: unknown };
  const user = typeof name === 'string' ? name.trim().toLowerCase() : '';
  if (!/^[a-z][a-z0-9]{0,30}$/.test(user)) {
    response
      .status(400)
      .json({ problem: 'A name has letters and digits, and begins with a letter.' });
    return;
  }
  response.cookie('session', signed(user), { httpOnly: true, sameSite: 'lax', secure });
  tell(response, user);
}

/**
 * Nobody proves who they are, so only pages of this machine may ask. Another site can point a name of its own to 127.0.0.1, and
 * then `Host` has that name. Remove this together with the pretended sign-in.
 */
const refuseForeignHost: RequestHandler = ({ headers }, response, next) => {
  if (OWN_HOST.test(headers.host ?? '')) return next();
  response.status(421).json({ problem: 'Open this page as 127.0.0.1 or localhost.' });
};

/** The page gets a sentence. Express itself would send the stack with the paths of this machine. */
const tellFault: ErrorRequestHandler = (error: { status?: number }, _request, response, next) => {
  const { status = 500 } = error;
  if (status >= 500) console.error('chat:', error);
  if (response.headersSent) return next(error);
  const problem =
    status >= 500 ? 'The server has a fault.' : 'The server cannot read this request.';
  response.status(status).json({ problem });
};

const app = express().disable('x-powered-by').use(refuseForeignHost);
// Express' own middleware would read the body of a command, so these come first.
app.use('/chat', (incoming, outgoing, next) => void answer(chat, incoming, outgoing).catch(next));
app
  .route('/session')
  .get(({ headers }, response) => tell(response, userOf(headers.cookie)))
  .post(express.json(), signIn)
  .delete((_, response) => tell(response.clearCookie('session'), undefined));
app.use((_, response, next) => {
  const policy = `default-src 'self'; img-src 'self' data:; connect-src 'self' ${new URL(GATEWAY_URL).origin}; frame-ancestors 'none'`;
  response.set({ 'content-security-policy': policy, 'x-content-type-options': 'nosniff' });
  next();
});
app.use(express.static(join(import.meta.dirname, 'dist')));
app.use((_, response) => {
  response.status(404).json({ problem: 'There is nothing at this path.' });
});
app.use(tellFault);
// Only for this machine, because nobody proves who they are.
const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const address = server.address();
  console.log(
    `The chat is at http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
  );
});
