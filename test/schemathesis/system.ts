import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import { startHistory } from '../../local/stack/history.ts';
import { startRestate } from '../../local/stack/restate.ts';
import { API_KEY } from '../support/credentials.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { recordingAgent } from '../support/recording-agent.ts';
import { registerAgents } from '../support/restate.ts';

/** The entity type that is registered: that of the document's examples. */
const AGENT_TYPE = 'assistant';
/** Reads park this long, and the fuzzer waits for each of them. */
const LONG_POLL_TIMEOUT_MS = 50;

/** The streams that the fuzzer's configuration names. */
const STREAMS = ['fuzz/a', 'fuzz/b'];

export interface FuzzedSystem {
  /** The gateway's base URL. */
  url: string;
  /** Where agents are served, which Restate may dial. */
  agentsUri: string;
  stop(): Promise<void>;
}

/** A gateway with a real Restate, a real Durable Streams server and the catalog engine. */
export async function startFuzzedSystem(): Promise<FuzzedSystem> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const stopPart of stops.reverse()) await stopPart();
  };
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'gateway-schemathesis-'));
    stops.push(() => rm(dataDir, { recursive: true, force: true }));
    const restate = await startRestate({ dataDir });
    stops.push(() => restate.stop());
    const agents = await registerAgents([recordingAgent(AGENT_TYPE).service], restate.adminUrl);
    stops.push(() => agents.stop());
    const history = await startHistory({ longPollTimeoutMs: LONG_POLL_TIMEOUT_MS });
    stops.push(() => history.stop());
    const catalog = await startCatalog({
      port: 0,
      databasePath: ':memory:',
      longPollTimeoutMs: LONG_POLL_TIMEOUT_MS,
    });
    stops.push(() => catalog.stop());
    const gateway = await startGatewayChild({
      env: {
        GATEWAY_RUNTIME_INGRESS_URL: restate.ingressUrl,
        GATEWAY_RUNTIME_ADMIN_URL: restate.adminUrl,
        GATEWAY_HISTORY_URL: history.url,
        GATEWAY_SYNC_URL: catalog.url,
      },
    });
    stops.push(() => gateway.stop());
    await Promise.all(STREAMS.map((path) => createStream(`${gateway.url}/streams/${path}`)));
    return { url: gateway.url, agentsUri: agents.uri, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createStream(url: string): Promise<void> {
  const { status } = await fetch(url, {
    method: 'PUT',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
  });
  if (status !== 201) throw new Error(`${url} could not be created: ${status}`);
}
