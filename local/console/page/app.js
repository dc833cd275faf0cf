import { agentOfHash, agentOfUrl, hashOf } from './agent-address.js';
import { agentLink } from './agent-link.js';
import { CatalogTable, showStatus } from './catalog-table.js';
import { followCatalog } from './catalog.js';
import { control, send, spawn } from './commands.js';
import { Connection } from './connection.js';
import { RefusedError } from './post-json.js';
import { TimelineView } from './timeline-view.js';
import { followTimeline } from './timeline.js';

const NOTICE_MS = { done: 3_000, failed: 15_000 };

const byId = (id) => document.getElementById(id);
const settings = await (await fetch('/settings.json')).json();
const connection = new Connection(settings.gatewayUrl);
const table = new CatalogTable();
const view = new TimelineView();
/** The agent that is watched: `{ type, id, url, stop }`. */
let open;
let rows = [];

byId('gateway-url').textContent = settings.gatewayUrl;
followCatalog(settings.gatewayUrl, {
  onRows: (current) => {
    rows = current;
    table.show(rows);
    showAgent();
  },
  report: (news) => connection.report('catalog', news),
});
addEventListener('hashchange', openFromHash);
openFromHash();

byId('spawn').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target;
  const { type, id } = form.elements;
  void run(form, 'Spawn', async () => {
    const { url } = await spawn(type.value, id.value.trim());
    id.value = '';
    location.hash = hashOf(agentOfUrl(url));
    return `Spawned ${url}`;
  });
});

byId('send').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target;
  const { text } = form.elements;
  const { type, id } = open;
  void run(form, 'Send', async () => {
    await send({ type, id }, text.value);
    // Not just emptied: an empty field that one has typed in would be shown as a mistake.
    form.reset();
    return 'Sent';
  }).then(() => text.focus());
});

byId('verbs').addEventListener('click', (event) => {
  const { verb } = event.target.dataset;
  if (!verb || !open) return;
  const { type, id } = open;
  void run(event.target, event.target.textContent.trim(), async () => {
    await control({ type, id }, verb);
    return `Accepted: ${verb}`;
  });
});

/** Runs a command once at a time for its form or button, and tells how it went. */
async function run(source, name, command) {
  if (source.ariaBusy === 'true') return;
  source.ariaBusy = 'true';
  try {
    notice(await command(), 'done');
  } catch (error) {
    const why = error instanceof RefusedError ? error.message : 'the console is not reachable.';
    notice(`${name} failed: ${why}`, 'failed');
  } finally {
    source.ariaBusy = null;
  }
}

function notice(text, state) {
  const line = byId('notice');
  line.textContent = text;
  line.dataset.state = state;
  clearTimeout(notice.timer);
  notice.timer = setTimeout(() => (line.textContent = ''), NOTICE_MS[state]);
}

function openFromHash() {
  const agent = agentOfHash(location.hash);
  if (agent && open?.type === agent.type && open.id === agent.id) return;
  const left = open;
  open?.stop();
  open = undefined;
  connection.forget('timeline');
  document.body.dataset.view = agent ? 'agent' : 'catalog';
  byId('agent').hidden = !agent;
  byId('agent-none').hidden = Boolean(agent);
  if (agent) watch(agent);
  table.select(open?.url);
  showAgent();
  // On a phone one pane gives way to the other, and with it what had the focus.
  if (!matchMedia('(max-width: 820px)').matches) return;
  if (agent) byId('agent-title').focus();
  else if (left) table.focus(left.url);
}

function watch({ type, id }) {
  const stopped = new AbortController();
  const url = `/t/${settings.tenant}/a/${type}/${id}`;
  open = { type, id, url, stop: () => stopped.abort() };
  view.clear('Reading the timeline…');
  void followTimeline(
    { ...settings, type, id },
    {
      signal: stopped.signal,
      onEvents: (events) => view.append(events),
      report: (news) => {
        connection.report('timeline', news);
        if (news.state === 'missing') view.note('Nothing is written on this timeline yet.');
        if (news.state === 'live') view.note('No events yet.');
      },
    },
  );
  const title = byId('agent-title');
  title.replaceChildren(
    `${type}/`,
    Object.assign(document.createElement('b'), { textContent: id }),
  );
  document.title = `${type}/${id} · Agent console`;
}

/** What the catalog knows of the agent that is watched. */
function showAgent() {
  if (!open) {
    document.title = 'Agent console';
    return;
  }
  const row = rows.find(({ url }) => url === open.url);
  showStatus(byId('agent-status'), row?.status ?? 'unknown');
  byId('verbs').disabled = row?.status === 'archived';
  const parent = byId('agent-parent');
  parent.replaceChildren(...(row?.parent ? ['child of ', agentLink(row.parent)] : []));
}
