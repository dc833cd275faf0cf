import type { ControlVerb, EntityRow } from '../../../packages/client/src/index.ts';
import { agentOfHash, hashOf, type AgentAddress } from './agent-address.ts';
import type { Failure } from './agent-list.ts';
import { AgentView } from './agent-view.ts';
import { CatalogView } from './catalog-view.ts';
import { DecisionsView } from './decisions-view.ts';
import { DeploymentsView } from './deployments-view.ts';
import { byId } from './element.ts';
import { exportTimeline } from './export-timeline.ts';
import { ForgetDialog } from './forget-dialog.ts';
import { readGateway, readSettings } from './gateway.ts';
import { Outbox } from './outbox.ts';
import { RunReader } from './run-reader.ts';
import { RunsView } from './runs-view.ts';
import { SpawnDialog } from './spawn-dialog.ts';
import { StatusLine } from './status-line.ts';
import { Watch } from './watch.ts';

const START_AGAIN_MS = 2_000;
const DRAFT = 'agent-console draft ';
const ARCHIVE = byId<HTMLDialogElement>('archive');

const settings = await untilAnswered(readSettings);
const reader = new RunReader(settings);
const catalog = new CatalogView(settings.tenant, (url) => reader.textOf(url));
const runs = new RunsView(reader);
const decisions = new DecisionsView(reader);
const PAGES = [
  { name: 'runs', title: 'Runs', hash: '#/runs', view: runs },
  { name: 'decisions', title: 'Decisions', hash: '#/decisions', view: decisions },
  { name: 'deployments', title: 'Deployments', hash: '#/deployments', view: new DeploymentsView() },
];
const forget = new ForgetDialog();
const text = byId<HTMLTextAreaElement>('send-text');
let open: (AgentAddress & { url: string }) | undefined;
let rows: readonly EntityRow[] | undefined;
let failures: ReadonlyMap<string, Failure> = new Map();

const outbox = new Outbox(() => agentView.showSent());
const agentView = new AgentView({
  settings,
  outbox,
  onState: (state) => status.report('timeline', state),
});
const status = new StatusLine(settings, (reason) => {
  agentView.setCommandsOff(reason);
  for (const button of document.querySelectorAll<HTMLButtonElement>('.needs-runtime')) {
    button.disabled = reason !== undefined;
    button.title = reason ?? '';
  }
});
const watch = new Watch(
  settings,
  (part, state) => status.report(part, state),
  (found, note, all) => {
    failures = found;
    runs.setFailures(all);
    agentView.setFailures(all);
    catalog.showFailures(failures, note);
    showRow();
  },
);

byId('gateway-url').textContent = settings.gatewayUrl.replace(/^https?:\/\//, '');
byId('gateway-url').title = settings.gatewayUrl;
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
      watch.setRows(rows);
      catalog.show(rows);
      runs.setRows(rows);
      decisions.setRows(rows);
      offerTypes(rows);
      showRow();
    }
  } catch (error) {
    catalog.note(`The catalog cannot be read: ${(error as Error).message}`);
  }
}

new SpawnDialog((hash) => {
  location.hash = hash;
  openFromHash();
  // Enter must not spawn a second one.
  text.focus();
});

byId<HTMLFormElement>('send').addEventListener('submit', (event) => {
  event.preventDefault();
  if (!open || text.value.trim() === '' || byId<HTMLButtonElement>('send-submit').disabled) return;
  const { type, id, url } = open;
  outbox.send({ type, id }, 'message', text.value);
  sessionStorage.removeItem(DRAFT + url);
  text.value = '';
  text.focus();
});

// Enter sends, and Shift+Enter begins a new line, except while an input method composes a character.
text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId<HTMLFormElement>('send').requestSubmit();
});
text.addEventListener('input', () => open && sessionStorage.setItem(DRAFT + open.url, text.value));

byId('verbs').addEventListener('click', (event) => {
  const button = (event.target as HTMLElement).closest<HTMLButtonElement>('[data-verb]');
  const verb = button?.dataset.verb as ControlVerb | undefined;
  if (!button || !verb || !open) return;
  const { type, id } = open;
  if (verb !== 'archive') return void outbox.send({ type, id }, verb, '');
  byId('archive-title').textContent = `Archive ${type}/${id}?`;
  ARCHIVE.showModal();
});

byId('export').addEventListener('click', () => open && void exportTimeline(settings, open));
byId('forget-agent').addEventListener('click', () => open && forget.open(open));

ARCHIVE.addEventListener('close', () => {
  if (ARCHIVE.returnValue === 'archive' && open) {
    outbox.send({ type: open.type, id: open.id }, 'archive', '');
  }
  ARCHIVE.returnValue = '';
});

function openFromHash(): void {
  const { hash } = location;
  const agent = agentOfHash(hash);
  if (agent && open?.type === agent.type && open.id === agent.id) return;
  const left = open;
  const page = PAGES.find(({ hash: of }) => of === hash);
  document.body.dataset.view = page?.name ?? (agent ? 'agent' : 'catalog');
  setCurrent('agents-link', page === undefined);
  for (const { name, view } of PAGES) {
    setCurrent(`${name}-link`, name === page?.name);
    byId(`${name}-pane`).hidden = name !== page?.name;
    if (name === page?.name) view.open();
    else view.close();
  }
  status.forget('timeline');
  agentView.close();
  open = agent && { ...agent, url: `/t/${settings.tenant}/a/${agent.type}/${agent.id}` };
  byId('agent').hidden = !agent;
  byId('agents-panes').hidden = page !== undefined;
  const place = agent ? `${agent.id} · ` : page ? `${page.title} · ` : '';
  document.title = `${place}Agent console`;
  const type = /^#\/\?type=([\w.-]+)$/.exec(hash)?.[1];
  if (type !== undefined) catalog.filterType(type);
  catalog.select(open?.url);
  if (open) {
    agentView.open(open);
    text.value = sessionStorage.getItem(DRAFT + open.url) ?? '';
  }
  showRow();
  // On a phone one pane replaces the other, which would lose the focus.
  if (!matchMedia('(max-width: 820px)').matches) return;
  if (agent) byId('agent-title').focus();
  else if (left) catalog.focus(left.url);
}

function setCurrent(id: string, isCurrent: boolean): void {
  if (isCurrent) byId(id).setAttribute('aria-current', 'page');
  else byId(id).removeAttribute('aria-current');
}

/** The catalog's row of the watched agent. */
function showRow(): void {
  if (!open || !rows) return;
  const row = rows.find(({ url }) => url === open?.url);
  agentView.showRow(row, failures.get(hashOf(open)), rows);
}

function offerTypes(all: readonly EntityRow[]): void {
  const list = byId('types');
  const types = [...new Set(all.map(({ type }) => type))].sort();
  if (list.children.length === types.length) return;
  list.replaceChildren(...types.map((type) => new Option(type, type)));
}

/** The page can load before its server is back, for example after a restart. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      byId('connection').dataset.state = 'failing';
      byId('connection-text').textContent =
        'The console does not answer: is its process still running? Trying again…';
      await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS));
    }
  }
}
