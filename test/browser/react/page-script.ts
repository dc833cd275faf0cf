// Runs in the browser, bundled with React 18 or 19.
import { createElement, startTransition, StrictMode, useLayoutEffect, useState } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { AgentGateway } from '@agent-gateway/client';
import { useAgent, useCatalog, useTimeline } from '../../../packages/react/src/index.ts';

/** What the test sees of the page. */
export interface ReactPage {
  /** How often the components were rendered, and how often two of them showed different states at once. */
  commits: number;
  tears: number;
  /** The live reads of timelines that are open. */
  open: number;
  unhandled: string[];
  mount: (gatewayUrl: string, agent: string) => void;
  unmount: () => void;
  /** Renders on a server, where nothing is read. */
  render: (gatewayUrl: string, agent: string) => string;
}

const page: ReactPage = {
  commits: 0,
  tears: 0,
  open: 0,
  unhandled: [],
  mount: (gatewayUrl, agent) => {
    root = createRoot(document.getElementById('root') as HTMLElement);
    root.render(createElement(StrictMode, null, createElement(App, appProps(gatewayUrl, agent))));
  },
  unmount: () => root?.unmount(),
  render: (gatewayUrl, agent) => renderToString(createElement(App, appProps(gatewayUrl, agent))),
};
let root: Root | undefined;
addEventListener('unhandledrejection', ({ reason }) => page.unhandled.push(String(reason)));

interface AppProps {
  gateway: AgentGateway;
  agent: string;
}

function appProps(url: string, agent: string): AppProps {
  const counted: typeof fetch = async (input, init = {}) => {
    // The request before it reads what there is, and ends by itself.
    if (/\/timeline\?.*live=sse/.test(String(input as string))) {
      page.open += 1;
      init.signal?.addEventListener('abort', () => (page.open -= 1), { once: true });
    }
    return fetch(input, init);
  };
  return { gateway: new AgentGateway({ url, backEnd: '/chat', fetch: counted }), agent };
}

const shown = new Map<string, string>();

function Chat({ gateway, agent, name }: AppProps & { name: string }) {
  const { turns, status, connection, error, send, stop } = useAgent(gateway, agent);
  useLayoutEffect(() => {
    shown.set(name, JSON.stringify([turns.length, turns.at(-1)?.text, status]));
  });
  const list = turns.map(({ key, state, message, text }) =>
    createElement('li', { key, 'data-state': state }, `${message?.text ?? ''} > ${text}`),
  );
  return createElement(
    'section',
    { id: name, 'data-status': status, 'data-connection': connection },
    createElement('ol', null, list),
    createElement('p', { role: 'alert' }, error?.message),
    createElement('button', { className: 'send', onClick: () => void send('hello') }),
    createElement('button', { className: 'stop', onClick: () => void stop(undefined, 'enough') }),
  );
}

function Events({ gateway, agent }: AppProps) {
  const { events } = useTimeline(gateway, agent);
  const { rows } = useCatalog(gateway, { columns: ['url', 'status'] });
  return createElement('footer', null, `${events.length} events, ${rows.length} rows`);
}

function App(props: AppProps) {
  const [count, setCount] = useState(0);
  useLayoutEffect(() => {
    page.commits += 1;
    if (shown.get('left') !== shown.get('right')) page.tears += 1;
    // Renders that React may interrupt, all the time: two states would be visible at once if the store allowed it.
    if (count < 500) setTimeout(() => startTransition(() => setCount(count + 1)), 5);
  }, [count]);
  return createElement(
    'main',
    null,
    createElement(Chat, { ...props, name: 'left' }),
    createElement(Chat, { ...props, name: 'right' }),
    createElement(Events, props),
  );
}

Object.assign(globalThis, { reactTest: page });
