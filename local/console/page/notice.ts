import { byId } from './element.ts';

const NOTICE_MS = { done: 4_000, failed: 12_000 };
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says at the bottom what an action did. */
export function notice(said: string, state: keyof typeof NOTICE_MS = 'done'): void {
  const line = byId('notice');
  line.textContent = said;
  line.dataset.state = state;
  clearTimeout(timer);
  timer = setTimeout(() => (line.textContent = ''), NOTICE_MS[state]);
}

const COPIED_MS = 1_500;

/** A button that copies a text, such as the id of a request. */
export function copyButton(label: string, text: string): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.dataset.testid = 'copy';
  button.textContent = label;
  button.title = text.length > 200 ? '' : `Copy ${text}`;
  button.addEventListener('click', () => {
    navigator.clipboard
      .writeText(text)
      .then(
        () => (button.textContent = 'Copied'),
        () => (button.textContent = 'Not allowed'),
      )
      .finally(() => setTimeout(() => (button.textContent = label), COPIED_MS));
  });
  return button;
}
