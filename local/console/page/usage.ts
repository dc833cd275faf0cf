import type { Run, Usage } from '../../../packages/client/src/index.ts';

/** How often agents were asked, and what that used. */
export interface UsageSum {
  name: string;
  runs: number;
  failed: number;
  usage: Usage;
}

const LABELS: Record<string, string> = { inputTokens: 'tokens in', outputTokens: 'tokens out' };

/** Such as `1,200 tokens in, 80 tokens out, cost 0.02`. Any agent counts what it likes. */
export function usageText(usage: Usage): string {
  return Object.entries(usage)
    .filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => {
      const number = Number(value).toLocaleString(undefined, { maximumFractionDigits: 4 });
      return LABELS[name] === undefined ? `${name} ${number}` : `${number} ${LABELS[name]}`;
    })
    .join(', ');
}

/** The sums of these runs by a name, such as the type of the agent: those with the most runs first. */
export function usageBy(runs: readonly Run[], nameOf: (run: Run) => string): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const run of runs) {
    const name = nameOf(run);
    const sum = sums.get(name) ?? { name, runs: 0, failed: 0, usage: {} };
    sum.runs += 1;
    if (run.state === 'failed' || run.state === 'failing') sum.failed += 1;
    for (const [key, value] of Object.entries(run.usage ?? {})) {
      if (typeof value === 'number') sum.usage[key] = (sum.usage[key] ?? 0) + value;
    }
    sums.set(name, sum);
  }
  return [...sums.values()].toSorted((a, b) => b.runs - a.runs);
}
