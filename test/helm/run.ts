/** Tests of the Helm chart and of the Compose file: `npm run test:helm`. */
import { checkApiKeys } from './api-keys.ts';
import { checkCapacity } from './capacity.ts';
import { checkChecklist } from './checklist.ts';
import { Checks, giveUp } from '../support/checks.ts';
import { checkRoles } from './compose-roles.ts';
import { checkClouds } from './clouds.ts';
import { checkCompose } from './compose.ts';
import { checkConformance } from './conformance.ts';
import { checkCopies } from './copies.ts';
import { checkDeployments } from './deployments.ts';
import { checkDocumentation } from './documentation.ts';
import { checkDoors } from './doors.ts';
import { checkDryRun } from './dry-run.ts';
import { checkFeatures } from './features.ts';
import { checkGuards } from './guards.ts';
import { checkMonitoring } from './monitoring.ts';
import { checkPackaging } from './packaging.ts';
import { checkPodSecurity } from './pod-security.ts';
import { checkPromises } from './promises.ts';
import { checkSettings } from './settings.ts';
import { missingTools } from './tools.ts';

const PARTS = [
  checkSettings,
  checkFeatures,
  checkGuards,
  checkApiKeys,
  checkPodSecurity,
  checkDeployments,
  checkCopies,
  checkPromises,
  checkDoors,
  checkClouds,
  checkChecklist,
  checkCapacity,
  checkPackaging,
  checkMonitoring,
  checkConformance,
  checkDryRun,
  checkDocumentation,
  checkCompose,
  checkRoles,
];

const missing = missingTools();
if (missing.length > 0) {
  giveUp(`test:helm needs tools that are not here:\n  ${missing.join('\n  ')}\n0 passed, 1 failed`);
} else {
  const checks = new Checks();
  for (const checkPart of PARTS) await checkPart(checks);
  checks.finish();
}
