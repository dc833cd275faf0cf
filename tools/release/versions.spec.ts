import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { disagreements, projectVersion, setVersion } from './versions.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = [
  'package.json',
  'package-lock.json',
  'packages/client/package.json',
  'packages/cli/package.json',
  'packages/react/package.json',
  'packages/mcp/package.json',
  'packages/ai-sdk/package.json',
  'packages/ag-ui/package.json',
  ...['agent', 'chat', 'llm-agent'].map((name) => `examples/${name}/package.json`),
  'packages/python/pyproject.toml',
  'helm/agent-gateway/Chart.yaml',
  'docs/openapi.json',
];

describe('the version of the project', () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'versions-'));
    for (const file of FILES) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(ROOT, file), join(copy, file));
    }
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  it('is the same wherever it stands', () => {
    expect(disagreements(ROOT)).toEqual([]);
  });

  it('is set everywhere but where it is generated', () => {
    const old = projectVersion(ROOT);
    setVersion(copy, '9.8.7');
    expect(disagreements(copy)).toEqual([
      `package-lock.json has ${old}, package.json 9.8.7`,
      `docs/openapi.json has ${old}, package.json 9.8.7`,
    ]);
    expect(() => setVersion(copy, 'v1')).toThrow('"v1" is no version');
  });
});
