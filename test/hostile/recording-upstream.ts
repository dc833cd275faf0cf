import type { Socket } from 'node:net';
import { pathProblem } from '../../src/platform/http/request-path.ts';
import { forAllTests } from '../support/for-this-test.ts';
import {
  startGatewayChild,
  type GatewayChild,
  type GatewayChildOptions,
} from '../support/gateway-child.ts';
import { startRawUpstream } from '../support/scripted-upstream.ts';
import { declaredFraming, MessageReader, NoMessage, type MessageHead } from './message-reader.ts';

/** A request as it reached an upstream. */
export interface UpstreamRequest {
  readonly method: string;
  readonly target: string;
  readonly head: MessageHead;
  readonly socket: Socket;
  /** Of the body so far. */
  body: Buffer;
  isWhole: boolean;
  /** To be set once nothing more of its answer comes. */
  isAnswered: boolean;
  /** Called when its body is whole. */
  onWhole: () => void;
}

export interface RecordingUpstream {
  url: string;
  port: number;
  seen: UpstreamRequest[];
  /** What no upstream may ever see, in words. */
  faults: string[];
  openSockets: Set<Socket>;
  /** Requests whose answer never ended and whose connection is still open. */
  abandoned(): UpstreamRequest[];
  stop(): Promise<void>;
}

/** The base paths of the four upstreams, which are one server here. */
export const BASES = ['/history', '/sync', '/ingress', '/admin'] as const;

/** The gateway's settings for this upstream. */
function settingsFor({ url }: { url: string }): Record<string, string> {
  return {
    GATEWAY_HISTORY_URL: `${url}${BASES[0]}`,
    GATEWAY_SYNC_URL: `${url}${BASES[1]}`,
    GATEWAY_RUNTIME_INGRESS_URL: `${url}${BASES[2]}`,
    GATEWAY_RUNTIME_ADMIN_URL: `${url}${BASES[3]}`,
  };
}

/** A built gateway before such an upstream, for the tests of a `describe`. */
export function recordedGateway(
  answer: (request: UpstreamRequest) => void,
  options: () => GatewayChildOptions = () => ({}),
): { gateway: GatewayChild; upstream: RecordingUpstream } {
  const upstream = forAllTests(() => startRecordingUpstream(answer));
  const gateway = forAllTests(() => {
    const { env, ...others } = options();
    return startGatewayChild({ ...others, env: { ...settingsFor(upstream), ...env } });
  });
  return { gateway, upstream };
}

/** An upstream that parses requests more strictly than any server. It calls `answer` once the head has arrived. */
async function startRecordingUpstream(
  answer: (request: UpstreamRequest) => void,
): Promise<RecordingUpstream> {
  const seen: UpstreamRequest[] = [];
  const faults: string[] = [];
  const upstream = await startRawUpstream((socket) => {
    socket.setNoDelay();
    let current: UpstreamRequest | undefined;
    const fault = (text: string): void => {
      faults.push(current ? `${current.method} ${current.target}: ${text}` : text);
    };
    const reader = new MessageReader({
      onHead: (head) => {
        if (current && !current.isAnswered) fault('another request came before it was answered');
        const [method = '', target = ''] = head.startLine.split(' ');
        current = {
          method,
          target,
          head,
          socket,
          body: Buffer.alloc(0),
          isWhole: false,
          isAnswered: false,
          onWhole: () => undefined,
        };
        seen.push(current);
        faults.push(...faultsOf(current, upstream.port));
        const framing = declaredFraming(head);
        if (framing === 'chunked') fault('a chunked body');
        answer(current);
        return framing ?? 'none';
      },
      onBody: (piece) => {
        if (current) current.body = Buffer.concat([current.body, piece]);
      },
      onEnd: () => {
        if (!current) return;
        current.isWhole = true;
        current.onWhole();
      },
    });
    socket.on('data', (bytes: Buffer) => {
      try {
        reader.feed(bytes);
      } catch (error) {
        if (!(error instanceof NoMessage)) throw error;
        fault(`${error.message}, and ${JSON.stringify(reader.unread)} behind it`);
        socket.destroy();
      }
    });
  });
  const { url, port, openSockets, stop } = upstream;
  const abandoned = (): UpstreamRequest[] =>
    seen.filter(({ isAnswered, socket }) => !isAnswered && !socket.destroyed);
  return { url, port, seen, faults, openSockets, abandoned, stop };
}

const FORBIDDEN = [
  'authorization',
  'cookie',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'expect',
  'x-forwarded-host',
  'x-forwarded-for',
  'forwarded',
];

function faultsOf({ method, target, head }: UpstreamRequest, port: number): string[] {
  const values = (lowerName: string): string[] =>
    head.headers.filter(([name]) => name === lowerName).map(([, value]) => value);
  const path = target.split('?')[0] ?? '';
  const problems = [
    /^\S+ \S+ HTTP\/1\.1$/.test(head.startLine) ? '' : `the line ${head.startLine}`,
    BASES.some((base) => path === base || path.startsWith(`${base}/`))
      ? ''
      : 'outside of every base',
    pathProblem(path) ?? '',
    values('host').join() === `127.0.0.1:${port}` ? '' : `host ${values('host').join()}`,
    ['', 'keep-alive', 'close'].includes(values('connection').join().toLowerCase())
      ? ''
      : `connection ${values('connection').join()}`,
    ...FORBIDDEN.map((name) =>
      values(name).length === 0 ? '' : `${name}: ${values(name).join()}`,
    ),
  ];
  return problems.filter((text) => text !== '').map((text) => `${method} ${target}: ${text}`);
}
