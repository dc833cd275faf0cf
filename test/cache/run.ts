import { Checks, giveUp } from '../support/checks.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startHistory } from '../support/history.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { checkControl } from './control.ts';
import { findNginx, HOW_TO_GET_NGINX, startSharedCache } from './nginx.ts';
import { checkOpenUpstream } from './open-upstream.ts';
import { checkRealStore } from './real-store.ts';
import { openlyCachedUpstream } from './upstreams.ts';

/** Tests the gateway behind a real shared cache: no caller may get what another one read. */
async function main(nginx: string): Promise<void> {
  const checks = new Checks();
  const stops: (() => Promise<void>)[] = [];
  const started = <Running extends { stop(): Promise<void> }>(running: Running): Running => {
    stops.push(() => running.stop());
    return running;
  };
  try {
    const open = started(await startScriptedUpstream(openlyCachedUpstream()));
    const history = started(await startHistory());
    const [overOpen, overStore] = await Promise.all([
      startGatewayChild({ env: { GATEWAY_HISTORY_URL: open.url, GATEWAY_SYNC_URL: open.url } }),
      startGatewayChild({ env: { GATEWAY_HISTORY_URL: history.url } }),
    ]);
    started(overOpen);
    started(overStore);

    checks.section('Control: the same cache straight before an upstream that says "public"');
    await checkControl(checks, started(await startSharedCache(nginx, open.url)).url);
    checks.section('The gateway before an upstream that lets all be cached');
    await checkOpenUpstream(checks, started(await startSharedCache(nginx, overOpen.url)).url, open);
    checks.section('The gateway before a real Durable Streams server');
    const storeCache = started(await startSharedCache(nginx, overStore.url));
    await checkRealStore(checks, storeCache.url, history.url);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
  checks.finish();
}

const nginxPath = findNginx();
if (nginxPath === undefined) giveUp(HOW_TO_GET_NGINX);
else await main(nginxPath);
