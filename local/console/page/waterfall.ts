import type { Run, RunStep } from '../../../packages/client/src/index.ts';
import { agentLink } from './agent-address.ts';
import { element } from './element.ts';
import { duration, msOf, timeElement } from './times.ts';

/** More steps than that are summed up: the timeline has them all. */
const MOST_STEPS = 200;
const SMALLEST_PERCENT = 0.6;

const NAMES: Partial<Record<RunStep['kind'], string>> = {
  queue: 'waits for its turn',
  model: 'model',
};

/** The span of a run: from its message to its end, or to now. */
function spanOf({ askedAt, beganAt, endedAt, steps }: Run): { from: number; to: number } {
  const from = msOf(askedAt ?? beganAt ?? steps[0]?.beganAt);
  const to = endedAt === undefined ? Date.now() : msOf(endedAt);
  return { from, to: Math.max(to, from + 1) };
}

/** The steps of a run as bars of one line. */
export function miniWaterfall(run: Run): HTMLElement {
  // Without the time in which others were before it, which would leave no room for the rest.
  const begun = run.steps.filter(({ kind }) => kind !== 'queue');
  const steps = begun.length > 0 ? begun : run.steps;
  const span = spanOf({ ...run, askedAt: run.beganAt ?? run.askedAt });
  const bars = steps.slice(-MOST_STEPS).map((step) => barOf(step, span));
  return element('span', { className: 'bars', ariaHidden: 'true' }, ...bars);
}

/** The steps of a run, a line each: what, when, how long, and why it failed. */
export function waterfall(run: Run): HTMLElement {
  const span = spanOf(run);
  const shown = run.steps.slice(-MOST_STEPS);
  const more = run.steps.length - shown.length;
  return element(
    'ol',
    { className: 'steps', dataset: { testid: 'steps' } },
    ...(more > 0
      ? [element('li', { className: 'dim' }, `${more} earlier steps: see Events.`)]
      : []),
    ...shown.map((step) => stepLine(step, span)),
  );
}

function stepLine(step: RunStep, span: { from: number; to: number }): HTMLElement {
  const { kind, state, beganAt, endedAt, url, error, attempt } = step;
  const took = duration(beganAt, endedAt ?? new Date().toISOString());
  return element(
    'li',
    { className: 'step', dataset: { kind, state, testid: 'step' } },
    element(
      'span',
      { className: 'step-name' },
      nameOf(step),
      ...(url === undefined ? [] : [' ', agentLink(url)]),
      ...(kind === 'model' && attempt > 1
        ? [element('span', { className: 'dim' }, ` attempt ${attempt}`)]
        : []),
    ),
    element('span', { className: 'bars', ariaHidden: 'true' }, barOf(step, span)),
    element('span', { className: 'took' }, state === 'open' ? `${took}…` : took),
    ...(error === undefined ? [] : [element('span', { className: 'step-error failure' }, error)]),
    element('span', { className: 'unseen' }, ` ${state}, since `, timeElement(beganAt)),
  );
}

function nameOf({ kind, name, state }: RunStep): string {
  if (kind === 'person') {
    return `${name}: ${state === 'open' ? 'waits for a person' : state === 'denied' ? 'a person said no' : state === 'done' ? 'a person said yes' : state}`;
  }
  return NAMES[kind] ?? (state === 'done' || state === 'open' ? name : `${name} ${state}`);
}

function barOf(
  { kind, state, beganAt, endedAt }: RunStep,
  { from, to }: { from: number; to: number },
): HTMLElement {
  const bar = element('span', { className: 'bar-of', dataset: { kind, state } });
  const left = percent(msOf(beganAt) - from, to - from);
  const end = endedAt === undefined ? 100 : percent(msOf(endedAt) - from, to - from);
  bar.style.left = `${Math.min(left, 100 - SMALLEST_PERCENT)}%`;
  bar.style.width = `${Math.max(end - left, SMALLEST_PERCENT)}%`;
  return bar;
}

function percent(part: number, whole: number): number {
  const share = (part / whole) * 100;
  return Number.isNaN(share) ? 0 : Math.max(0, Math.min(100, share));
}
