/**
 * Tests of what runs the gateway on one machine without Kubernetes: the systemd units, HAProxy's configuration, and copies that
 * share a port: `npm run test:units`. Needs Linux; a network namespace of its own needs root, or user namespaces.
 */
import { Checks, giveUp } from '../support/checks.ts';
import { checkHaproxy } from './haproxy.ts';
import { checkInstall } from './install.ts';
import { checkSharedPort } from './shared-port.ts';
import { checkStores } from './stores.ts';
import { missingTools } from './tools.ts';
import { checkUnits } from './units.ts';

const missing = missingTools();
if (missing.length > 0) {
  giveUp(`test:units needs what is not here:\n  ${missing.join('\n  ')}\n0 passed, 1 failed`);
} else {
  const checks = new Checks();
  await checkInstall(checks);
  await checkUnits(checks);
  await checkHaproxy(checks);
  await checkStores(checks);
  await checkSharedPort(checks);
  checks.finish();
}
