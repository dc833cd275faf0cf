import type { Server } from 'node:http';
import { expect } from '@jest/globals';
import { Contract } from './contract.ts';
import { recordAnswers } from './recorded-answer.ts';
import { isRealUpstream } from './real-upstreams.ts';

const MAX_REPORTED = 20;
const contract = new Contract();

/** The upstreams of a gateway by the prefix that leads to them. */
export type UpstreamUrls = Record<string, string>;

/**
 * Watches a gateway's answers for what `docs/openapi.json` does not allow, whichever test asks and
 * with whatever client. Call the function it returns at the end: it throws where there was something.
 */
export function watchContract(server: Server, upstreams: UpstreamUrls): () => void {
  const violations: string[] = [];
  const testNames = new Map<string, string>();
  recordAnswers(server, (answer) => {
    const isReal = (path: string): boolean => isRealUpstream(upstreams[path.split('/')[1] ?? '']);
    for (const violation of contract.violations(answer, isReal)) {
      const { method, target, status } = answer;
      const line = `${method} ${target.slice(0, 200)} → ${status}: ${violation}`;
      violations.push(line);
      testNames.set(line, expect.getState().currentTestName ?? '');
    }
  });
  return () => {
    if (violations.length === 0) return;
    const lines = [...new Set(violations)].slice(0, MAX_REPORTED);
    throw new Error(
      `docs/openapi.json does not allow what the gateway answered:\n` +
        lines.map((line) => `  ${line}\n    (during "${testNames.get(line)}")`).join('\n'),
    );
  };
}
