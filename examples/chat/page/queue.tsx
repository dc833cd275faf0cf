import type { Turn } from '@agent-gateway/client';

/** The messages that wait for others to be answered, the next one first. */
export function Queue(props: { turns: readonly Turn[]; onBack: (turn: Turn) => void }) {
  const { turns, onBack } = props;
  if (turns.length === 0) return null;
  return (
    <section className="queue" aria-label="Messages that wait">
      <h3>{turns.length === 1 ? 'Next' : `Next, ${turns.length} messages`}</h3>
      <ol>
        {turns.map((turn) => (
          <li key={turn.key}>
            <span>{turn.message?.text}</span>
            <button onClick={() => onBack(turn)} aria-label={`Take back: ${turn.message?.text}`}>
              Take back
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
