import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import { missingPackages } from '../peer-packages.ts';
import { API_KEY, STREAMS_PREFIX, type Contender } from './contender.ts';
import { startServerProcess } from './server-process.ts';

interface NodePeerOptions {
  /** Of `bench/peers`, without its ending; the id by default. */
  program?: string;
  env?: Record<string, string>;
  /** As of a `RunningContender`. */
  sharingProcesses?: number;
}

/** A program of `bench/peers`. Each one is a proxy written for Node. */
function nodePeer(
  id: string,
  label: string,
  { program = id, env = {}, ...sharing }: NodePeerOptions = {},
): Contender {
  return {
    id,
    label,
    missing: missingPackages,
    start: async (streamsUrl) => {
      const { port } = await choosePorts({ port: 0 });
      const upstream = new URL(streamsUrl);
      const origin = `http://127.0.0.1:${port}`;
      const server = await startServerProcess({
        name: id,
        command: process.execPath,
        args: [join(import.meta.dirname, `../peers/${program}.js`)],
        env: {
          PEER_PORT: String(port),
          PEER_API_KEY: API_KEY,
          PEER_PREFIX: STREAMS_PREFIX,
          PEER_UPSTREAM_ORIGIN: upstream.origin,
          PEER_UPSTREAM_PATH: upstream.pathname.replace(/\/$/, ''),
          ...env,
        },
        readyUrl: `${origin}/health`,
      });
      const { pid } = server;
      return { url: origin + STREAMS_PREFIX, pid, ...sharing, stop: () => server.stop() };
    },
  };
}

/** The least that a Node proxy can do: check the credential and forward bytes. */
export const bareUndici = nodePeer('bare-undici', 'bare Node and undici');
export const bareSockets = nodePeer('bare-sockets', 'bare Node and sockets');

/** The least that a Node server can do which shares reads. It passes a response on when it is whole. */
export const bareShared = nodePeer('bare-shared', 'bare Node, reads shared', {
  sharingProcesses: 1,
});

/** The same with what the contract asks of every read: the least that a Node gateway can do, whatever its framework. */
export const dutifulSockets = nodePeer('dutiful-sockets', 'bare Node with the duties', {
  program: 'bare-sockets',
  env: { PEER_DUTIES: '1' },
});
export const dutifulShared = nodePeer('dutiful-shared', 'bare Node with the duties, reads shared', {
  program: 'bare-shared',
  env: { PEER_DUTIES: '1' },
  sharingProcesses: 1,
});

/** The least that a command can cost in the design of the gateway. */
export const bareNest = nodePeer('nest', 'bare Nest and undici');

/** The same with what the contract asks of every command. */
export const dutifulNest = nodePeer('dutiful-nest', 'bare Nest with the duties', {
  program: 'nest',
  env: { PEER_DUTIES: '1' },
});

/** The same proxy with a log line for each request, as one runs it in production. */
export const loggingFastify = nodePeer('fastify-logging', '@fastify/http-proxy, its log on', {
  program: 'fastify-http-proxy',
  env: { PEER_LOG: '1' },
});

export const fastifyHttpProxy = nodePeer('fastify-http-proxy', '@fastify/http-proxy');

/** The proxies that a search on npm finds. */
export const nodeProxies = [
  fastifyHttpProxy,
  nodePeer('fast-proxy', 'fast-proxy'),
  nodePeer('http2-proxy', 'http2-proxy'),
  nodePeer('http-proxy', 'http-proxy'),
  nodePeer('http-proxy-middleware', 'http-proxy-middleware'),
];
