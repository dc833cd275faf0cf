import type { ToolCall, Turn } from '@agent-gateway/client';
import type { UseAgent } from '@agent-gateway/react';
import { Call } from './call.tsx';

const REFUSED: Record<string, string> = {
  archived: 'This chat is closed.',
  'inbox full': 'Too many messages wait for an answer. Send it again later.',
};

interface TurnProps {
  turn: Turn;
  decide: UseAgent['decide'];
  onAgain: () => void;
}

/** What the user said, and what the agent made of it. */
export function TurnView({ turn, decide, onAgain }: TurnProps) {
  const { message, parts, state, error = '', usage } = turn;
  return (
    <>
      <p className="asked">{message?.text}</p>
      {parts.map((part, index) => {
        if (part.type === 'tool') {
          return <Call key={part.id} call={part} turn={turn} onDecision={decideOn(part, decide)} />;
        }
        if (part.type === 'text') {
          return (
            <p key={index} className="said">
              {part.text}
            </p>
          );
        }
        if (part.type !== 'reasoning') return null;
        return (
          <details key={index} className="thought">
            <summary>What it thought</summary>
            {part.text}
          </details>
        );
      })}
      {state === 'waiting' && <p className="waiting" aria-label="The agent thinks" role="img" />}
      {state === 'sending' && <p className="dim">Sending…</p>}
      {state === 'stopped' && (
        <p className="dim">{turn.stoppedBy?.verb === 'withdraw' ? 'Taken back.' : 'Stopped.'}</p>
      )}
      {state === 'refused' && <p className="failed">{REFUSED[error] ?? error}</p>}
      {state === 'failed' && (
        <p className="failed">
          {turn.seq === undefined ? 'Not sent.' : `The agent could not answer: ${error}.`}{' '}
          <button onClick={onAgain}>Send again</button>
        </p>
      )}
      {usage && (
        <p className="usage">
          {usage.inputTokens ?? 0} tokens read, {usage.outputTokens ?? 0} written
        </p>
      )}
    </>
  );
}

function decideOn(call: ToolCall, decide: UseAgent['decide']) {
  return (approved: boolean) => decide(call, { approved });
}
