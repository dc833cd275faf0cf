import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ciValues, overlay, render, type Tree } from '../helm/chart.ts';
import { findTool } from '../helm/tools.ts';
import { parseYaml } from '../helm/yaml.ts';
import { readPages, readProjectFile, ROOT } from './pages.ts';

/** The blocks that are files of their own: ```ts mint.ts */
const files = readPages().flatMap(({ blocks }) => blocks.filter(({ name }) => name?.includes('.')));

/** Run by `minting.docs-spec.ts`, `snippets.docs-spec.ts` and `nginx.docs-spec.ts`. */
const RUN = [
  'mint.ts',
  'mint.py',
  'mint.go',
  'watch.html',
  'nginx.conf',
  'reply.ts',
  'agent.ts',
  'report.ts',
  'shop.ts',
  'desk.ts',
];
/** `test/client/openapi-client.e2e-spec.ts` compiles and runs it, with the output of the command before it. */
const OF_OPENAPI = 'spawn.ts';
/** A page's values file is laid over the values of a whole production release. */
const VALUES = 'values.yaml';
/** Held by `test/telemetry/monitoring.e2e-spec.ts` and run by `test/monitoring/run.ts`; the adapter is not at hand. */
const OF_MONITORING = [
  'prometheus.yml',
  'shared.promql',
  'key-in-use.promql',
  'budget.promql',
  'keda.promql',
  'prometheus-adapter.yaml',
];
/** Files that only the type checker checks. */
const TYPES_ONLY = [
  'first.ts',
  'own-handler.ts',
  'idle-agents.ts',
  // `test/telemetry/trace-through-agent.e2e-spec.ts` tests what it does.
  'traced.ts',
  // `test/client/ask-again.e2e-spec.ts` tests what these do.
  'again.ts',
  // `packages/react/src/agent-store.spec.ts` tests what it calls.
  'answer.tsx',
  // `test/browser/ai-sdk/ai-sdk.ts` tests what it calls.
  'approvals.tsx',
  // `test/client/ag-ui.e2e-spec.ts` tests what it does.
  'ag-ui.ts',
  'export.ts',
  'turns.ts',
  'watch.ts',
  'token-route.ts',
];
/** Run by `npm run test:python`, in the environment that it makes. */
const OF_PYTHON = ['ask.py', 'shop.py', 'desk.py', 'register.py', 'model.py', 'back_end.py'];
/** Run in a real browser, with an agent. */
const IN_BROWSER = [
  // `test/browser/chat/docs-page.ts`
  'chat.ts',
  'node-adapter.ts',
  'express-server.ts',
  'node-server.ts',
  'ask.ts',
  'chat.tsx',
  // `test/browser/ai-sdk/ai-sdk.ts`
  'use-chat.tsx',
];

describe('files in the pages', () => {
  it('are all known to a test that runs or holds them', () => {
    const known = [
      ...RUN,
      ...OF_MONITORING,
      ...TYPES_ONLY,
      ...IN_BROWSER,
      ...OF_PYTHON,
      OF_OPENAPI,
      VALUES,
    ];
    const unknown = files.filter(({ name = '' }) => !known.includes(name));
    expect(unknown.map(({ page, line, name }) => `${page}:${line}: ${name}`)).toEqual([]);
  });

  const values = files.filter(({ name }) => name === VALUES);
  const hasHelm = findTool('helm') !== undefined || process.env.CI !== undefined;
  (hasHelm ? it : it.skip).each(values.map((file) => [`${file.page}:${file.line}`, file] as const))(
    'give the chart values that it takes: %s',
    (_, { text }) => {
      const objects = render(overlay(ciValues('production-values.yaml'), parseYaml(text) as Tree));
      expect(objects.map(({ kind }) => kind)).toContain('Deployment');
    },
  );
});

describe('the adapter in the pages', () => {
  it('is the one that the tests of the back end and the example use', () => {
    const [shown] = files.filter(({ name }) => name === 'node-adapter.ts');
    expect(shown?.text).toBe(readProjectFile('test/support/node-adapter.ts'));
    expect(shown?.text).toBe(readProjectFile('examples/chat/node-adapter.ts'));
  });
});

describe('the agent in the pages', () => {
  it('is the one in examples/agent', () => {
    const [shown] = files.filter(
      ({ name, page }) => name === 'agent.ts' && page === 'docs/agents.md',
    );
    expect(shown?.text).toBe(readProjectFile('examples/agent/agent.ts'));
  });

  it('with a model is the one in examples/llm-agent', () => {
    const shown = files.find(({ name, page }) => name === 'agent.ts' && page !== 'docs/agents.md');
    expect(shown?.text).toBe(readProjectFile('examples/llm-agent/agent.ts'));
  });
});

const MODEL_FILES = ['model.ts', 'openai.ts', 'anthropic.ts', 'event-stream.ts', 'stand-in.ts'];

describe('TypeScript in the pages', () => {
  const typed = files.filter(
    ({ language, name }) => /^tsx?$/.test(language) && name !== OF_OPENAPI,
  );
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'docs-types-'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const { page, name = '', text } of typed) {
      mkdirSync(join(folder, basename(page, '.md')), { recursive: true });
      writeFileSync(join(folder, basename(page, '.md'), name), text);
    }
    for (const name of MODEL_FILES) {
      const text = readProjectFile(`examples/llm-agent/${name}`);
      writeFileSync(join(folder, 'agent-with-a-model', name), text);
    }
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      include: ['*/*.ts', '*/*.tsx'],
      compilerOptions: { noEmit: true, jsx: 'react-jsx', rootDir: folder },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('has no error of types against the real packages, but where one was put in', () => {
    writeFileSync(join(folder, 'browser/wrong.ts'), 'export const wrong: string = 1;\n');
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/browser\/wrong\.ts\(1,14\): error TS2322: Type 'number' is not/),
    ]);
  });
});
