import { useEffect, useState, useSyncExternalStore, useTransition } from 'react';
import { AgentGateway, APIError } from '@agent-gateway/client';
import { useCatalog, type CatalogQuery } from '@agent-gateway/react';
import { Chat } from './chat.tsx';

/** What the server tells of whoever is signed in. */
export interface Session {
  user: string;
  gatewayUrl: string;
  /** All chats that the user may have, each `type/id`. */
  agents: string[];
  /** The query that the user's tokens allow, word for word. */
  catalog: CatalogQuery;
}

const STATUS: Record<string, string> = {
  running: 'answering',
  failing: 'has trouble',
  paused: 'paused',
  archived: 'closed',
};

/** The list of a user's chats, and the one that the address names: `#assistant/ada-1`. */
export function Chats({
  session,
  onSignOut,
}: {
  session: Session;
  onSignOut: () => Promise<void>;
}) {
  const { user, agents, gatewayUrl } = session;
  const [gateway] = useState(() => new AgentGateway({ url: gatewayUrl, backEnd: '/chat' }));
  const { rows, connection, error } = useCatalog(gateway, session.catalog);
  const [problem, setProblem] = useState('');
  const [isStarting, start] = useTransition();
  const open = useSyncExternalStore(onHash, () => location.hash.slice(1));
  const isOver = error instanceof APIError && error.code === 'session_ended';
  const signOut = () => onSignOut().catch(({ message }: Error) => setProblem(message));
  useEffect(() => {
    if (isOver) void signOut();
  }, [isOver]);

  const chats = rows
    .map(({ url, status, updated_at }) => ({
      agent: url.split('/a/')[1] ?? '',
      status,
      updated_at,
    }))
    .sort((one, other) => other.updated_at.localeCompare(one.updated_at));
  const free = agents.find((agent) => !chats.some((each) => each.agent === agent));
  const begin = () =>
    start(async () => {
      const [type = '', id = ''] = free?.split('/') ?? [];
      setProblem('');
      await gateway.agents.spawn({ type, id }).then(
        () => (location.hash = `${free}`),
        ({ detail, message }: APIError) => setProblem(detail ?? message),
      );
    });

  return (
    <main className="chats" data-open={open !== '' || undefined}>
      <h1 className="unseen">Your agents</h1>
      <nav aria-label="Your chats">
        <h2>Chats</h2>
        <button className="new" onClick={begin} disabled={isStarting || free === undefined}>
          {isStarting ? 'Starting…' : 'New chat'}
        </button>
        {problem && <p role="alert">{problem}</p>}
        {connection === 'live' && chats.length === 0 && (
          <p className="dim">You have no chats yet.</p>
        )}
        {free === undefined && <p className="dim">You have all {agents.length} chats.</p>}
        <ul>
          {chats.map(({ agent, status }) => (
            <li key={agent}>
              <a href={`#${agent}`} aria-current={agent === open ? 'page' : undefined}>
                {nameOf(agent)} <small data-status={status}>{STATUS[status]}</small>
              </a>
            </li>
          ))}
        </ul>
        <p className="who">
          <span>{user}</span> <button onClick={() => void signOut()}>Sign out</button>
        </p>
      </nav>
      {agents.includes(open) ? (
        <Chat key={open} gateway={gateway} agent={open} name={nameOf(open)} />
      ) : (
        <div className="alone">
          {open === '' ? <p>Open a chat, or begin a new one.</p> : <p>You have no such chat.</p>}
          {open !== '' && <a href="#">Back to your chats</a>}
        </div>
      )}
    </main>
  );
}

const nameOf = (agent: string): string => `Chat ${agent.split('-').at(-1)}`;

function onHash(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
