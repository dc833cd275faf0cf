import type { ControlVerb, EntityRow } from '../../../packages/client/src/index.ts';
import { agentLink, type AgentAddress } from './agent-address.ts';
import { showStatus } from './agent-line.ts';
import type { Failure } from './agent-list.ts';
import { byId, element } from './element.ts';
import { reasonText } from './reason.ts';
import { age, nextTry, timeElement } from './times.ts';

const MOST_CHILDREN = 6;
const FINAL_ADVICE =
  'Nothing is tried again. Mend the agent and send the message once more: the next good reply ends this.';
const ADVICE = 'Mend the agent and register it again: it continues by itself.';

/** The top of an agent's page: who it is, how it is and why, what may be done. */
export class AgentHead {
  readonly #title = byId('agent-title');
  readonly #relations = byId('agent-relations');
  readonly #failure = byId('agent-failure');
  readonly #reason = byId('failure-reason');
  #commandsOff: string | undefined;
  #status: string | undefined;
  #isKnown: boolean | undefined;

  open({ type, id }: AgentAddress): void {
    this.#title.replaceChildren(id);
    byId('agent-type').textContent = type;
    this.#relations.replaceChildren();
    this.#isKnown = undefined;
    this.#status = undefined;
    this.#failure.hidden = true;
    showStatus(byId('agent-status'), 'unknown');
    const text = byId<HTMLTextAreaElement>('send-text');
    const example = type === 'assistant' ? ': “count to 20”' : '';
    text.placeholder = `Message ${id}${example}`;
    this.#showWhatIsPossible();
  }

  showState(row: EntityRow | undefined, known: Failure | undefined, isKnown?: boolean): void {
    this.#isKnown = isKnown;
    const isAtWork = row?.status === 'running' || row?.status === 'waiting';
    const failure = known?.isFinal && isAtWork ? undefined : known;
    this.#status = failure ? (failure.isFinal ? 'failed' : 'failing') : row?.status;
    showStatus(byId('agent-status'), this.#status ?? 'unknown');
    this.#failure.hidden = !failure;
    if (failure) this.#showFailure(failure);
    this.#showWhatIsPossible();
  }

  /** The links to its parent and children. */
  showRelations(row: EntityRow | undefined, rows: readonly EntityRow[]): void {
    const children = row ? rows.filter(({ parent }) => parent === row.url) : [];
    const shown = children.slice(0, MOST_CHILDREN).flatMap(({ url }) => [' ', agentLink(url)]);
    const more = children.length - MOST_CHILDREN;
    const key = JSON.stringify([row?.parent, row?.updated_at, children.map(({ url }) => url)]);
    if (this.#relations.dataset.key === key && this.#relations.hasChildNodes()) return;
    this.#relations.dataset.key = key;
    this.#relations.replaceChildren(
      ...(row?.parent ? [element('span', {}, 'Child of ', agentLink(row.parent))] : []),
      ...(shown.length > 0
        ? [element('span', {}, 'Children', ...shown, more > 0 ? ` and ${more} more` : '')]
        : []),
      ...(row ? [element('span', {}, 'Spawned ', timeElement(row.created_at))] : []),
      ...(row ? [element('span', {}, 'Changed ', timeElement(row.updated_at))] : []),
    );
  }

  setCommandsOff(reason: string | undefined): void {
    this.#commandsOff = reason;
    this.#showWhatIsPossible();
  }

  #showFailure({ reason, tries, since, nextTryAt, isHandler, isFinal }: Failure): void {
    const ago = age(since);
    const facts = [
      isFinal
        ? `Failed${ago && ` ${ago} ago`}: the last message got no answer`
        : `Failing${ago && ` for ${ago}`}`,
      tries === undefined ? '' : `attempt ${tries}`,
      nextTry(nextTryAt),
    ];
    byId('failure-facts').textContent = facts.filter(Boolean).join(' · ');
    // One handler at a time runs for an agent. The turn of an agent made with `defineAgent` is no handler of it.
    const end = isHandler
      ? 'To end it, cancel its invocation: an interrupt waits behind it.'
      : 'Interrupt ends the turn that fails.';
    byId('failure-advice').textContent = isFinal ? FINAL_ADVICE : `${ADVICE} ${end}`;
    const text = reason === '' ? 'The reason is on its timeline.' : reasonText(reason);
    if (this.#reason.textContent !== text) this.#reason.textContent = text;
  }

  #showWhatIsPossible(): void {
    const isArchived = this.#status === 'archived';
    const isUnknown = this.#isKnown === false && this.#status === undefined;
    const reasons = this.#commandsOff === undefined ? verbReasons(this.#status) : undefined;
    for (const button of document.querySelectorAll<HTMLButtonElement>('#verbs button')) {
      const reason = reasons ? reasons[button.dataset.verb as ControlVerb] : this.#commandsOff;
      button.disabled = reason !== undefined;
      button.title = reason ?? '';
    }
    byId<HTMLFieldSetElement>('send-fields').disabled = isArchived;
    byId<HTMLButtonElement>('send-submit').disabled = isUnknown;
    byId('send-hint').textContent = isArchived
      ? 'This agent is archived: it takes no messages.'
      : isUnknown
        ? 'This agent is not in the catalog: spawn it first.'
        : this.#commandsOff !== undefined
          ? 'No message can be delivered now. What you send waits here, and is delivered once.'
          : '';
  }
}

/** The reason why a verb is disabled, or undefined. */
function verbReasons(status: string | undefined): Record<ControlVerb, string | undefined> {
  const unless = (isPossible: boolean, reason: string): string | undefined =>
    isPossible ? undefined : reason;
  if (status === undefined) {
    const reason = 'This agent is not in the catalog.';
    return { interrupt: reason, pause: reason, resume: reason, archive: reason };
  }
  const isBusy = status === 'running' || status === 'waiting' || status === 'failing';
  return {
    interrupt: unless(isBusy, 'It is not writing a reply.'),
    pause: unless(isBusy || status === 'idle' || status === 'failed', `It is ${status}.`),
    resume: unless(status === 'paused', 'It is not paused.'),
    archive: unless(status !== 'archived', 'It is archived.'),
  };
}
