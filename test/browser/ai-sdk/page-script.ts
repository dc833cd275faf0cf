// Runs in the browser, bundled with version 6 or 7 of the AI SDK.
import { createElement, StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useChat } from '@ai-sdk/react';
import { AgentGateway } from '@agent-gateway/client';
import {
  agentTransport,
  type AgentMessage,
  type AgentTransport,
} from '../../../packages/ai-sdk/src/index.ts';

/** What the test sees of the page. */
export interface AiSdkPage {
  /** How often the page was asked to run a tool itself. */
  toolCalls: number;
  unhandled: string[];
  /** How many resumptions have begun, and how many of them are answered. */
  resumptions: [begun: number, answered: number];
  /** Reads the history, and shows the chat when `show` is called. */
  open: (gatewayUrl: string, agent: string) => Promise<void>;
  show: () => void;
  /** Shows the program of the README. */
  showReadme: () => Promise<void>;
}

let transport: AgentTransport;
let history: AgentMessage[];

const page: AiSdkPage = {
  toolCalls: 0,
  unhandled: [],
  resumptions: [0, 0],
  open: async (url, agent) => {
    transport = agentTransport(new AgentGateway({ url, backEnd: '/chat' }), agent);
    history = await transport.history();
    countResumptions();
  },
  show: () => {
    const root = createRoot(document.getElementById('root') as HTMLElement);
    root.render(createElement(StrictMode, null, createElement(Chat)));
  },
  showReadme: async () => {
    // @ts-expect-error The test makes this file of the README, whose types are checked with those of all pages.
    const { Chat: Program } = (await import('program-of-the-readme')) as { Chat: typeof Chat };
    const root = createRoot(document.getElementById('root') as HTMLElement);
    root.render(createElement(StrictMode, null, createElement(Program)));
  },
};
addEventListener('unhandledrejection', ({ reason }) => page.unhandled.push(String(reason)));

function countResumptions(): void {
  const reconnect = transport.reconnectToStream.bind(transport);
  transport.reconnectToStream = async (request) => {
    page.resumptions[0] += 1;
    try {
      return await reconnect(request);
    } finally {
      page.resumptions[1] += 1;
    }
  };
}

function Chat() {
  const chat = useChat({
    transport,
    messages: history,
    resume: true,
    onToolCall: () => void (page.toolCalls += 1),
  });
  const { messages, sendMessage, status, error, stop, resumeStream, regenerate } = chat;
  const [refusal, setRefusal] = useState('');
  useEffect(() => {
    transport.sendDecisions(messages).catch(({ message }: Error) => setRefusal(message));
  }, [messages]);
  const respond = (approved: boolean, reason?: string) => {
    const parts = messages.flatMap((message) => message.parts);
    for (const part of parts) {
      if (part.type !== 'dynamic-tool' || part.state !== 'approval-requested') continue;
      void chat.addToolApprovalResponse({ id: part.approval.id, approved, reason });
    }
  };
  const list = messages.map(({ id, role, metadata, parts }) =>
    createElement('li', { key: id, id, 'data-state': metadata?.state ?? role }, partsText(parts)),
  );
  const button = (className: string, onClick: () => unknown) =>
    createElement('button', { className, onClick: () => void onClick() });
  return createElement(
    'main',
    { 'data-status': status },
    createElement('ol', null, list),
    createElement('p', { role: 'alert' }, error?.message ?? refusal),
    button('send', () => sendMessage({ text: 'hello' })),
    button('regenerate', () => regenerate()),
    button('stop', () => transport.stop('enough')),
    button('approve', () => respond(true)),
    button('deny', () => respond(false, 'too much')),
    button('leave', () => stop()),
    button('resume', () => resumeStream()),
  );
}

function partsText(parts: AgentMessage['parts']): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'file') return `[${part.mediaType}]`;
      if (part.type !== 'dynamic-tool') return part.type;
      if (part.approval) return `[${part.toolName} ${part.state}]`;
      return `[${part.toolName} ${JSON.stringify(part.output ?? part.errorText ?? part.input)}]`;
    })
    .join('');
}

Object.assign(globalThis, { aiSdkTest: page });
