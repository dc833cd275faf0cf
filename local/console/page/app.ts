import type { EntityRow } from '../../../packages/client/src/index.ts';
import { agentOfHash, agentOfUrl, hashOf, type AgentAddress } from './agent-address.ts';
import { AgentView } from './agent-view.ts';
import { CatalogView } from './catalog-view.ts';
import { control, send, spawn, type Verb } from './commands.ts';
import { get, RefusedError } from './console-api.ts';
import type { TimelineEvent } from './conversation.ts';
import { DeploymentsView } from './deployments-view.ts';
import { byId } from './element.ts';
import { readGateway, type Settings } from './gateway.ts';
import { StatusLine } from './status-line.ts';

const NOTICE_MS = { done: 4_000, failed: 15_000 };
const START_AGAIN_MS = 2_000;

const settings = await untilAnswered(() => get<Settings>('/settings.json'));
const status = new StatusLine(settings.gatewayUrl);
const catalog = new CatalogView();
const deployments = new DeploymentsView();
/**
 * Commands whose effect has not arrived yet, by their request id, each with the text to show when the agent handles
 * it.
 */
const sent = new Map<string, string>();
/** The draft of each agent. */
const drafts = new Map<string, string>();
const text = byId<HTMLTextAreaElement>('send-text');
let open: (AgentAddress & { url: string }) | undefined;
let rows: readonly EntityRow[] | undefined;
let noticeTimer: ReturnType<typeof setTimeout> | undefined;

const agentView = new AgentView({
  settings,
  onState: (state) => status.report('timeline', state),
  onEvent: onEvent,
});

byId('gateway-url').textContent = settings.gatewayUrl;
void followCatalog();
addEventListener('hashchange', openFromHash);
openFromHash();

async function followCatalog(): Promise<void> {
  const reading = readGateway(settings, '/shapes/v1/shape').catalog({
    onState: (state) => {
      status.report('catalog', state);
      if (state.name === 'waiting') catalog.note('The catalog cannot be read now: see above.');
    },
  });
  try {
    for await (const current of reading) {
      rows = current;
      catalog.show(rows);
      showRow();
    }
  } catch (error) {
    catalog.note(`The catalog cannot be read: ${(error as Error).message}`);
  }
}

byId<HTMLFormElement>('spawn').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const value = (name: string): string => (form.elements.namedItem(name) as HTMLInputElement).value;
  void run(form, 'Spawn', async () => {
    const { body } = await spawn(value('type'), value('id').trim());
    (form.elements.namedItem('id') as HTMLInputElement).value = '';
    const agent = agentOfUrl(body.url);
    if (agent) location.hash = hashOf(agent);
    return `Spawned ${body.url}`;
  });
});

byId<HTMLFormElement>('send').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  if (!open || text.value.trim() === '') return;
  const agent = open;
  const message = text.value;
  void run(form, 'Send', async () => {
    const { requestId } = await send(agent, message);
    sent.set(requestId, 'The message');
    drafts.delete(agent.url);
    if (open?.url === agent.url && text.value === message) text.value = '';
    // Restate has the command. The timeline will show whether the agent accepts it.
    return 'Accepted. The agent has yet to take it.';
  }).then(() => text.focus());
});

// Enter sends, and Shift+Enter begins a new line, except while an input method composes a character.
text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId<HTMLFormElement>('send').requestSubmit();
});
text.addEventListener('input', () => open && drafts.set(open.url, text.value));

byId('verbs').addEventListener('click', (event) => {
  const button = (event.target as HTMLElement).closest<HTMLButtonElement>('[data-verb]');
  const verb = button?.dataset.verb as Verb | undefined;
  if (!button || !verb || !open) return;
  if (verb === 'archive') byId<HTMLDialogElement>('archive').showModal();
  else apply(verb, button);
});

byId<HTMLDialogElement>('archive').addEventListener('close', (event) => {
  const dialog = event.target as HTMLDialogElement;
  if (dialog.returnValue === 'archive') apply('archive', byId('control-archive'));
  dialog.returnValue = '';
});

function apply(verb: Verb, button: HTMLElement): void {
  if (!open) return;
  const agent = open;
  void run(button, verb, async () => {
    const { requestId } = await control(agent, verb);
    sent.set(requestId, `“${verb}”`);
    return `Accepted: ${verb}. The agent has yet to take it.`;
  });
}

/** Reports the agent's reaction to a command of this page. */
function onEvent({ kind, requestId, reason, message }: TimelineEvent): void {
  const what = typeof requestId === 'string' ? sent.get(requestId) : undefined;
  if (what === undefined) return;
  sent.delete(requestId as string);
  if (kind === 'refused' || kind === 'rejected') {
    notice(`${what} was refused by the agent: ${String(reason)}.`, 'failed');
  } else if (kind === 'error') notice(`${what} could not be used: ${String(message)}.`, 'failed');
  else notice(`${what} has reached the agent.`, 'done');
}

/** Runs one command at a time for a form or button, and reports its result. */
async function run(
  source: HTMLElement,
  name: string,
  command: () => Promise<string>,
): Promise<void> {
  if (source.ariaBusy === 'true') return;
  source.ariaBusy = 'true';
  try {
    notice(await command(), 'done');
  } catch (error) {
    const why = error instanceof RefusedError ? error.message : 'the console does not answer.';
    notice(`${name} failed: ${why}`, 'failed');
  } finally {
    source.ariaBusy = null;
  }
}

function notice(said: string, state: keyof typeof NOTICE_MS): void {
  const line = byId('notice');
  line.textContent = said;
  line.dataset.state = state;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => (line.textContent = ''), NOTICE_MS[state]);
}

function openFromHash(): void {
  const agent = agentOfHash(location.hash);
  if (agent && open?.type === agent.type && open.id === agent.id) return;
  const left = open;
  const isDeployments = location.hash === '#/deployments';
  document.body.dataset.view = isDeployments ? 'deployments' : agent ? 'agent' : 'catalog';
  byId('deployments-link').toggleAttribute('data-current', isDeployments);
  if (isDeployments) deployments.open();
  else deployments.close();
  status.forget('timeline');
  agentView.close();
  open = agent && { ...agent, url: `/t/${settings.tenant}/a/${agent.type}/${agent.id}` };
  byId('agent').hidden = !agent;
  byId('agent-none').hidden = Boolean(agent);
  byId('deployments-pane').hidden = !isDeployments;
  byId('agents-panes').hidden = isDeployments;
  document.title = agent ? `${agent.type}/${agent.id} · Agent console` : 'Agent console';
  catalog.select(open?.url);
  if (open) {
    agentView.open(open);
    text.value = drafts.get(open.url) ?? '';
  }
  showRow();
  // On a phone one pane replaces the other, which would lose the focus.
  if (!matchMedia('(max-width: 820px)').matches) return;
  if (agent) byId('agent-title').focus();
  else if (left) catalog.focus(left.url);
}

/** The catalog's row of the watched agent. */
function showRow(): void {
  if (open && rows) agentView.showRow(rows.find(({ url }) => url === open?.url));
}

/** The page can load before its server is back, for example after a restart. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      byId('connection').dataset.state = 'failing';
      byId('connection-text').textContent =
        'The console does not answer: is npm run local still running? Trying again…';
      await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS));
    }
  }
}
