import { Checks, giveUp } from '../support/checks.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startHistory } from '../support/history.ts';
import { withParts } from '../support/parts.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { checkControl } from './control.ts';
import { findNginx, HOW_TO_GET_NGINX, startSharedCache } from './nginx.ts';
import { checkOpenUpstream } from './open-upstream.ts';
import { checkRealStore } from './real-store.ts';
import { openlyCachedUpstream } from './upstreams.ts';

/** Tests the gateway behind a real shared cache: no caller may get what another one read. */
async function main(nginx: string): Promise<void> {
  const checks = new Checks();
  await withParts(async (keep) => {
    const open = await keep(startScriptedUpstream(openlyCachedUpstream()));
    const history = await keep(startHistory());
    const [overOpen, overStore] = await Promise.all([
      keep(
        startGatewayChild({ env: { GATEWAY_HISTORY_URL: open.url, GATEWAY_SYNC_URL: open.url } }),
      ),
      keep(startGatewayChild({ env: { GATEWAY_HISTORY_URL: history.url } })),
    ]);

    checks.section('Control: the same cache straight before an upstream that says "public"');
    await checkControl(checks, (await keep(startSharedCache(nginx, open.url))).url);
    checks.section('The gateway before an upstream that lets all be cached');
    const openCache = await keep(startSharedCache(nginx, overOpen.url));
    await checkOpenUpstream(checks, openCache.url, open);
    checks.section('The gateway before a real Durable Streams server');
    const storeCache = await keep(startSharedCache(nginx, overStore.url));
    await checkRealStore(checks, storeCache.url, history.url);
  });
  checks.finish();
}

const nginxPath = findNginx();
if (nginxPath === undefined) giveUp(HOW_TO_GET_NGINX);
else await main(nginxPath);
