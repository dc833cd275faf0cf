import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describeMachine } from '../../bench/machine.ts';
import { SMOKE } from '../../bench/options.ts';
import { plots } from '../../bench/report/plots.ts';
import { PAGE, renderPage } from '../../bench/report/write-page.ts';
import type { Measurements, Results } from '../../bench/results.ts';
import type { Checks } from '../support/checks.ts';

/** The page's text and the plots that a run produces. Writes no file. */
export async function checkPage(
  checks: Checks,
  measurements: Partial<Measurements>,
): Promise<void> {
  const machine = await describeMachine();
  const results: Results = {
    takenAt: '2026-01-02T03:04:05.678Z',
    tookSeconds: 60,
    commit: 'abc1234',
    machine,
    seconds: SMOKE.seconds,
    rounds: SMOKE.rounds,
    events: SMOKE.events,
    measurements,
    failures: {},
  };
  await checks.check('the versions of all that was measured are known', () => {
    assert.deepEqual(
      Object.entries(machine.software).filter(([, version]) => !/^\d+\.\d+/.test(version)),
      [],
    );
    return Promise.resolve();
  });
  await checks.check('the page has all measurements, and its prose', async () => {
    const page = await renderPage(results);
    assert.match(page, /2026-01-02 03:04 UTC, commit abc1234/);
    assert.doesNotMatch(page, /Not measured in this run|NaN|undefined|Infinity/);
    const prose = (text: string): string =>
      text.replace(/(<!-- bench: [\w-]+ -->)[\s\S]*?(<!-- bench: end -->)/g, '$1$2');
    assert.equal(prose(page), prose(await readFile(PAGE, 'utf8')));
  });
  await checks.check('there is a plot of each kind, with a line for each contender', () => {
    const lines = [...plots(measurements)].map(([name, svg]) => [
      name,
      svg.split('<polyline').length - 1,
    ]);
    assert.deepEqual(lines, [
      ['performance-rate.svg', 4],
      ['performance-delivery.svg', 4],
    ]);
    return Promise.resolve();
  });
}
