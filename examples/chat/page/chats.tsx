import { useEffect, useState, useSyncExternalStore, useTransition } from 'react';
import { AgentGateway, APIError } from '@agent-gateway/client';
import { useCatalog, type CatalogQuery } from '@agent-gateway/react';
import { Chat } from './chat.tsx';

/** What the server tells of whoever is signed in. */
export interface Session {
  user: string;
  gatewayUrl: string;
  /** The type of the agents. A chat has the id `<user>-<number>`. */
  agentType: string;
  /** The query that the user's tokens allow, word for word. */
  catalog: CatalogQuery;
}

const STATUS: Record<string, string> = {
  running: 'answering',
  waiting: 'asks you',
  failing: 'has trouble',
  failed: 'could not answer',
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
  const { user, agentType, gatewayUrl } = session;
  const [gateway] = useState(() => new AgentGateway({ url: gatewayUrl, backEnd: '/chat' }));
  const { rows, connection, error } = useCatalog(gateway, session.catalog);
  const [problem, setProblem] = useState('');
  const [isStarting, start] = useTransition();
  const [begun, setBegun] = useState('');
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
  // Until the list is there, and until the list has a new chat, the address is believed.
  const isListed = connection !== 'live' || chats.some(({ agent }) => agent === open);
  const isChat = open.startsWith(`${agentType}/`);
  // An agent that a chat has asked is not in the list. Its id begins with that of the chat: `researcher/ada-1-kPvizP8a.1`.
  const [, chatId] = /^[^/]+\/([a-z0-9]+-\d+)-/.exec(open) ?? [];
  const isHelper = !isChat && chatId !== undefined && chatId.startsWith(`${user}-`);
  const isOpen = isChat && (isListed || open === begun);
  const begin = () =>
    start(async () => {
      const id = `${user}-${1 + Math.max(0, ...chats.map(({ agent }) => numberOf(agent)))}`;
      setProblem('');
      await gateway.agents.spawn({ type: agentType, id }).then(
        () => {
          setBegun(`${agentType}/${id}`);
          location.hash = `${agentType}/${id}`;
        },
        ({ detail, message }: APIError) => setProblem(detail ?? message),
      );
    });

  return (
    <main className="chats" data-open={open !== '' || undefined}>
      <h1 className="unseen">Your agents</h1>
      <nav aria-label="Your chats">
        <h2>Chats</h2>
        <button
          className="new"
          onClick={begin}
          disabled={isStarting || connection === 'connecting'}
        >
          {isStarting ? 'Starting…' : 'New chat'}
        </button>
        {problem && <p role="alert">{problem}</p>}
        {connection === 'live' && chats.length === 0 && (
          <p className="dim">You have no chats yet.</p>
        )}
        <ul>
          {chats.map(({ agent, status }) => (
            <li key={agent}>
              <a
                href={`#${agent}`}
                aria-current={agent === open || agent.endsWith(`/${chatId}`) ? 'page' : undefined}
              >
                {nameOf(agent)} <small data-status={status}>{STATUS[status]}</small>
              </a>
            </li>
          ))}
        </ul>
        <p className="who">
          <span>{user}</span> <button onClick={() => void signOut()}>Sign out</button>
        </p>
      </nav>
      {isOpen || isHelper ? (
        <Chat
          key={open}
          gateway={gateway}
          agent={open}
          name={isHelper ? `${open.split('/')[0]} of ${nameOf(chatId)}` : nameOf(open)}
          asker={isHelper ? `${agentType}/${chatId}` : undefined}
        />
      ) : (
        <div className="alone">
          {open === '' ? <p>Open a chat, or begin a new one.</p> : <p>You have no such chat.</p>}
          {open !== '' && <a href="#">Back to your chats</a>}
        </div>
      )}
    </main>
  );
}

const numberOf = (agent: string): number => Number(agent.split('-').at(-1));
const nameOf = (agent: string): string => `Chat ${numberOf(agent)}`;

function onHash(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
