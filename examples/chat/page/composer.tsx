import { useState, type KeyboardEvent } from 'react';

/** The back end takes 64 KiB, and a character has at most three bytes. */
const MAX_LENGTH = 20_000;

interface ComposerProps {
  isClosed: boolean;
  onSend: (text: string) => Promise<void>;
  /** Undefined if there is nothing to stop. */
  onStop: (() => void) | undefined;
}

/** What the user says next. */
export function Composer({ isClosed, onSend, onStop }: ComposerProps) {
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
