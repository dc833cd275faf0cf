import { element } from './element.ts';

/** More than this is shown on request. */
const LONGEST = 50_000;

/** A text as it is. Of a very long one the beginning, with a button that shows the rest. */
export function plainText(text: string): HTMLElement {
  const said = element('span', { className: 'plain' }, text.slice(0, LONGEST));
  if (text.length <= LONGEST) return said;
  const label = `Show all ${text.length.toLocaleString()} characters`;
  const button = element('button', { type: 'button', className: 'small' }, label);
  button.addEventListener('click', () => said.replaceChildren(text));
  said.append('… ', button);
  return said;
}
