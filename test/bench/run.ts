import assert from 'node:assert/strict';
import { missingProgram, type ProgramName } from '../../bench/programs.ts';
import { preparePeers } from '../../bench/peer-packages.ts';
import { PARTS, SMOKE } from '../../bench/options.ts';
import type { Measurements } from '../../bench/results.ts';
import { measureParts } from '../../bench/scenarios/measure-parts.ts';
import { Checks, giveUp } from '../support/checks.ts';
import { sampleOf } from '../support/share.ts';
import { checkMeasured } from './measured.ts';
import { checkPage } from './page.ts';

/**
 * The bench with next to nothing of everything: every contender starts, answers right and is measured,
 * and a page comes of it. What the numbers say is not looked at. With `TEST_SHARE` some of its parts, at random, and no page.
 */
async function main(): Promise<void> {
  const checks = new Checks();
  const say = (line: string): void => void process.stdout.write(`    ${line}\n`);
  await preparePeers(say);
  const measured: Partial<Measurements> = {};
  const parts = sampleOf(PARTS);
  for (const part of parts) {
    checks.section(part);
    await checks.check(`${part} is measured`, async () => {
      const options = {
        ...SMOKE,
        only: [part],
        contenders: undefined,
        profile: false,
        add: false,
        render: false,
      };
      const context = {
        options,
        say,
        gatewayNodeArgs: () => [],
        chosen: <T>(all: readonly T[]) => [...all],
      };
      const { measurements, failures } = await measureParts(context, () => undefined);
      assert.deepEqual(failures, {});
      Object.assign(measured, measurements);
    });
    await checkMeasured(checks, part, measured);
  }
  checks.section('page');
  if (parts.length === PARTS.length) await checkPage(checks, measured);
  else say(`not made, as only these were measured: ${parts.join(', ')}`);
  checks.finish();
}

const missing = (['wrk', 'nginx', 'haproxy'] satisfies ProgramName[]).map(missingProgram);
const reasons = missing.filter((reason) => reason !== undefined);
if (reasons.length > 0) giveUp(reasons.join('\n'));
else await main();
