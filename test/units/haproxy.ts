import assert from 'node:assert/strict';
import type { Checks } from '../support/checks.ts';
import { frontConfiguration } from './front.ts';
import { runTool } from './tools.ts';

export async function checkHaproxy(checks: Checks): Promise<void> {
  checks.section('HAProxy');
  await checks.check('finds no fault in the configuration, and nothing to warn of', async () => {
    const { file, remove } = await frontConfiguration();
    const { code, output } = runTool('haproxy', ['-c', '-f', file]);
    await remove();
    assert.deepEqual({ code, output }, { code: 0, output: 'Configuration file is valid\n' });
  });
}
