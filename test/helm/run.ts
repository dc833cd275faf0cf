/** Tests of the Helm chart and of the Compose file: `npm run test:helm`. */
import { checkApiKeys } from './api-keys.ts';
import { checkCapacity } from './capacity.ts';
import { checkChecklist } from './checklist.ts';
import { Checks } from '../support/checks.ts';
import { report } from './report.ts';
import { checkRoles } from './compose-roles.ts';
import { checkClouds } from './clouds.ts';
import { checkCompose } from './compose.ts';
import { checkConformance } from './conformance.ts';
import { checkDeployments } from './deployments.ts';
import { checkDocumentation } from './documentation.ts';
import { checkDoors } from './doors.ts';
import { checkDryRun } from './dry-run.ts';
import { checkFeatures } from './features.ts';
import { checkGuards } from './guards.ts';
import { checkLifeOfARelease } from './life-of-a-release.ts';
import { checkMonitoring } from './monitoring.ts';
import { checkPackaging } from './packaging.ts';
import { checkPodSecurity } from './pod-security.ts';
import { checkPromises } from './promises.ts';
import { checkSettings } from './settings.ts';
import { missingTools } from './tools.ts';

const missing = missingTools();
if (missing.length > 0) {
  report(`test:helm needs tools that are not here:\n  ${missing.join('\n  ')}`);
  report('0 passed, 1 failed');
  process.exit(1);
}

const checks = new Checks();
await checkSettings(checks);
await checkFeatures(checks);
await checkGuards(checks);
await checkApiKeys(checks);
await checkPodSecurity(checks);
await checkDeployments(checks);
await checkPromises(checks);
await checkDoors(checks);
await checkClouds(checks);
await checkChecklist(checks);
await checkCapacity(checks);
await checkPackaging(checks);
await checkMonitoring(checks);
await checkConformance(checks);
await checkDryRun(checks);
await checkLifeOfARelease(checks);
await checkDocumentation(checks);
await checkCompose(checks);
await checkRoles(checks);
checks.finish();
