/** Tests of the Helm chart: `npm run test:helm`. */
import { Checks } from './checks.ts';
import { checkConformance } from './conformance.ts';
import { checkDeployments } from './deployments.ts';
import { checkDocumentation } from './documentation.ts';
import { checkFeatures } from './features.ts';
import { checkGuards } from './guards.ts';
import { checkPodSecurity } from './pod-security.ts';
import { checkSettings } from './settings.ts';
import { missingTools } from './tools.ts';

const missing = missingTools();
if (missing.length > 0) {
  console.log(`test:helm needs tools that are not here:\n  ${missing.join('\n  ')}`);
  console.log('0 passed, 1 failed');
  process.exit(1);
}

const checks = new Checks();
await checkSettings(checks);
await checkFeatures(checks);
await checkGuards(checks);
await checkPodSecurity(checks);
await checkDeployments(checks);
await checkConformance(checks);
await checkDocumentation(checks);
checks.finish();
