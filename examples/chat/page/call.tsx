import { useState } from 'react';
import { isOpen, type ToolCall, type Turn } from '@agent-gateway/client';

const STATE = {
  waiting: 'May it use',
  called: 'Using',
  done: 'Used',
  failed: 'Failed to use',
  denied: 'Was not allowed to use',
};

interface CallProps {
  call: ToolCall;
  turn: Turn;
  onDecision: (approved: boolean) => Promise<void>;
}

/** A call of a tool: the question to the user while it waits for one, or what it does, with a link where an agent does it. */
export function Call({ call, turn, onDecision }: CallProps) {
  const { name, state, url, decision } = call;
  const isOver = !isOpen(turn);
  if (state === 'waiting' && !decision && !isOver) {
    return <Question call={call} onDecision={onDecision} />;
  }
  const isRunning = !isOver && (state === 'called' || state === 'waiting');
  const [, agent] = url?.split('/a/') ?? [];
  return (
    <p className="tool" data-state={isRunning ? 'called' : state}>
      {isRunning ? `Using ${name}` : wordsFor(call, isOver)}
      {agent !== undefined && (
        <a href={`#${agent}`}>{isRunning ? 'Watch it work' : 'See its work'}</a>
      )}
    </p>
  );
}

function wordsFor({ name, state, decision }: ToolCall, isOver: boolean): string {
  const { by } = decision ?? {};
  if (state === 'waiting' && isOver) return `Did not use ${name}`;
  if (by === undefined) return `${STATE[state]} ${name}`;
  return state === 'denied'
    ? `${by} did not allow ${name}`
    : `${STATE[state]} ${name}, allowed by ${by}`;
}

function Question({ call, onDecision }: Pick<CallProps, 'call' | 'onDecision'>) {
  const { name, input } = call;
  const [isSent, setSent] = useState(false);
  const decide = (approved: boolean) => {
    setSent(true);
    // The question is gone as soon as the agent has written the decision. A decision that did not arrive can be made again.
    void onDecision(approved).then(() => setSent(false));
  };
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  return (
    <div className="question" role="group" aria-label={`May it use ${name}?`}>
      <p>
        {STATE.waiting} <strong>{name}</strong>?
      </p>
      {fields.length > 0 && (
        <dl>
          {fields.map(([field, value]) => (
            <div key={field}>
              <dt>{field}</dt>
              <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      <p>
        <button className="yes" disabled={isSent} onClick={() => decide(true)}>
          Allow
        </button>{' '}
        <button disabled={isSent} onClick={() => decide(false)}>
          Deny
        </button>
      </p>
    </div>
  );
}
