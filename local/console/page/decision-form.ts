import { element } from './element.ts';
import { commandGateway, reasonOf } from './gateway.ts';
import { notice } from './notice.ts';

/** A call of a tool that waits for a person. */
export interface Question {
  /** `type/id`. */
  agent: string;
  /** The id of the call. */
  call: string;
  /** The name of the tool. */
  name: string;
}

const RETRY_MS = 10_000;
/** The console has no users: whoever opens it on this machine decides. */
const BY = 'console';

/** A note, and two buttons that decide a call. Afterwards it says what was decided, until the agent has it. */
export function decisionForm(
  question: Question,
  onDecided: () => void = () => {},
): HTMLFormElement {
  const { agent, call, name } = question;
  const note = element('input', {
    name: 'note',
    placeholder: 'Note (optional)',
    ariaLabel: `Note for ${name} of ${agent}`,
    autocomplete: 'off',
    maxLength: 500,
    dataset: { testid: 'decision-note' },
  });
  const button = (label: string, value: string, className: string): HTMLButtonElement =>
    element('button', { className, value, dataset: { testid: value } }, label);
  const buttons = [
    button('Approve', 'approve', 'primary needs-runtime'),
    button('Deny', 'deny', 'danger needs-runtime'),
  ];
  const form = element(
    'form',
    { className: 'decide', dataset: { testid: 'decide' } },
    note,
    ...buttons,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const approved = (event.submitter as HTMLButtonElement | null)?.value === 'approve';
    void decide(approved);
  });
  const decide = async (approved: boolean): Promise<void> => {
    for (const one of [note, ...buttons]) one.disabled = true;
    const said = note.value.trim();
    const decision = { call, approved, by: BY, ...(said !== '' && { note: said }) };
    try {
      await commandGateway.agents.decide(agent, decision, { retryForMs: RETRY_MS });
      form.replaceChildren(
        element(
          'p',
          { className: 'dim' },
          `${approved ? 'Approved' : 'Denied'}. The agent continues.`,
        ),
      );
      notice(`${approved ? 'Approved' : 'Denied'}: ${name} of ${agent}.`);
      onDecided();
    } catch (error) {
      for (const one of [note, ...buttons]) one.disabled = false;
      notice(`Not decided: ${reasonOf(error)}`, 'failed');
    }
  };
  return form;
}
