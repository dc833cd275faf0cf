import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHART } from './chart.ts';
import type { Checks } from '../support/checks.ts';
import { runTool } from './tools.ts';

/** Checks that the chart's README is what helm-docs generates from the current values. */
export async function checkDocumentation(checks: Checks): Promise<void> {
  await checks.check(
    'the chart’s README is what helm-docs makes: helm-docs -c helm -s file',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'helm-docs-'));
      try {
        cpSync(CHART, folder, { recursive: true });
        rmSync(join(folder, 'README.md'), { force: true });
        const { code, stderr } = runTool('helm-docs', [
          '--chart-search-root',
          folder,
          '--sort-values-order',
          'file',
        ]);
        assert.equal(code, 0, stderr);
        const made = readFileSync(join(folder, 'README.md'), 'utf8');
        assert.equal(readFileSync(join(CHART, 'README.md'), 'utf8'), made);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
}
