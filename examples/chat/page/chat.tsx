import { useState } from 'react';
import type { AgentGateway, Turn } from '@agent-gateway/client';
import { useAgent } from '@agent-gateway/react';
import { Composer } from './composer.tsx';
import { Queue } from './queue.tsx';
import { TurnView } from './turn.tsx';

interface ChatProps {
  gateway: AgentGateway;
  agent: string;
  name: string;
  /** The chat that has asked this agent. Undefined for a chat. */
  asker: string | undefined;
}

/** One agent: what was said, live, and what the user says to it. */
export function Chat({ gateway, agent, name, asker }: ChatProps) {
  const chat = useAgent(gateway, agent);
  const { turns, queued, status, connection, error, send, stop } = chat;
  const [again, setAgain] = useState<readonly string[]>([]);
  const shown = turns.filter(({ key, state }) => state !== 'queued' && !again.includes(key));
  const isRunning = status === 'running' || status === 'waiting' || status === 'failing';
  const last = shown.at(-1);
  const sendAgain = ({ key, message }: Turn) => {
    setAgain([...again, key]);
    void send(message?.text ?? '');
  };
  return (
    <section className="chat" aria-label={name}>
      <header data-helper={asker !== undefined || undefined}>
        <a
          href={`#${asker ?? ''}`}
          aria-label={asker === undefined ? 'Back to your chats' : 'Back to the chat'}
        >
          ‹
        </a>
        <h2>{name}</h2>
      </header>
      {/* Its first child is at its bottom, so the newest words stay in view. */}
      <div className="scroll" tabIndex={0} role="region" aria-label="What was said">
        {shown.length === 0 ? (
          <p className="dim empty">
            {connection === 'live' ? 'What do you want to know?' : 'Loading…'}
          </p>
        ) : (
          <ol>
            {shown.map((turn) => (
              <li key={turn.key} data-state={turn.state}>
                <TurnView turn={turn} decide={chat.decide} onAgain={() => sendAgain(turn)} />
              </li>
            ))}
          </ol>
        )}
      </div>
      <p className="unseen" role="status">
        {status === 'waiting'
          ? 'The agent asks you.'
          : isRunning
            ? 'The agent answers.'
            : last?.state === 'done'
              ? last.text
              : ''}
      </p>
      {connection === 'waiting' && <p role="alert">The agents cannot be reached. Trying again…</p>}
      {status === 'failing' && <p role="alert">The agent has trouble. It tries again by itself.</p>}
      {error && <p role="alert">{'detail' in error ? String(error.detail) : error.message}</p>}
      <Queue turns={queued} onBack={(turn) => void chat.withdraw(turn)} />
      {asker === undefined && (
        <Composer
          isClosed={status === 'archived'}
          onSend={send}
          onStop={isRunning ? () => void stop() : undefined}
        />
      )}
    </section>
  );
}
