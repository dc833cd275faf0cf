import { useState, type KeyboardEvent } from 'react';
import type { AgentGateway, Turn } from '@agent-gateway/client';
import { useAgent } from '@agent-gateway/react';

const REFUSED: Record<string, string> = {
  archived: 'This chat is closed.',
  'inbox full': 'Too many messages wait for an answer. Send it again later.',
};

/** The back end takes 64 KiB, and a character has at most three bytes. */
const MAX_LENGTH = 20_000;

const TOOL = { called: 'Using', done: 'Used', failed: 'Failed to use' };

/** One agent: what was said, live, and what the user says to it. */
export function Chat(props: { gateway: AgentGateway; agent: string; name: string }) {
  const { turns, status, connection, error, send, stop } = useAgent(props.gateway, props.agent);
  const [again, setAgain] = useState<readonly string[]>([]);
  const shown = turns.filter(({ key }) => !again.includes(key));
  const isRunning = status === 'running' || status === 'failing';
  const last = shown.at(-1);
  const sendAgain = ({ key, message }: Turn) => {
    setAgain([...again, key]);
    void send(message?.text ?? '');
  };
  return (
    <section className="chat" aria-label={props.name}>
      <header>
        <a href="#" aria-label="Back to your chats">
          ‹
        </a>
        <h2>{props.name}</h2>
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
                <TurnView turn={turn} onAgain={() => sendAgain(turn)} />
              </li>
            ))}
          </ol>
        )}
      </div>
      <p className="unseen" role="status">
        {isRunning ? 'The agent answers.' : last?.state === 'done' ? last.text : ''}
      </p>
      {connection === 'waiting' && <p role="alert">The agents cannot be reached. Trying again…</p>}
      {status === 'failing' && <p role="alert">The agent has trouble. It tries again by itself.</p>}
      {error && <p role="alert">{'detail' in error ? String(error.detail) : error.message}</p>}
      <Composer
        isClosed={status === 'archived'}
        onSend={send}
        onStop={isRunning ? () => void stop() : undefined}
      />
    </section>
  );
}

function TurnView({ turn, onAgain }: { turn: Turn; onAgain: () => void }) {
  const { message, text, tools, state, error = '' } = turn;
  return (
    <>
      <p className="asked">{message?.text}</p>
      {tools.map(({ id, name, state: step }) => (
        <p key={id} className="tool">
          {TOOL[step]} {name}
        </p>
      ))}
      {text && <p className="said">{text}</p>}
      {state === 'waiting' && <p className="waiting" aria-label="The agent thinks" role="img" />}
      {state === 'sending' && <p className="dim">Sending…</p>}
      {state === 'stopped' && <p className="dim">Stopped.</p>}
      {state === 'refused' && <p className="failed">{REFUSED[error] ?? error}</p>}
      {state === 'failed' && (
        <p className="failed">
          {turn.seq === undefined ? 'Not sent.' : `The agent could not answer: ${error}.`}{' '}
          <button onClick={onAgain}>Send again</button>
        </p>
      )}
    </>
  );
}

interface ComposerProps {
  isClosed: boolean;
  onSend: (text: string) => Promise<void>;
  /** Undefined if there is nothing to stop. */
  onStop: (() => void) | undefined;
}

function Composer({ isClosed, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const isEmpty = text.trim() === '';
  const submit = () => {
    void onSend(text);
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form className="composer" action={submit}>
      <textarea
        aria-label="Your message"
        placeholder={isClosed ? 'This chat is closed.' : 'Your message'}
        disabled={isClosed}
        rows={1}
        maxLength={MAX_LENGTH}
        autoFocus
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      {onStop && (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      )}
      {(!onStop || !isEmpty) && <button disabled={isClosed || isEmpty}>Send</button>}
    </form>
  );
}
