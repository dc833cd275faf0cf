import type { Deployment, Service } from '../../../client/src/index.ts';

/** Which deployment takes the new work of each service. */
export interface NewWork {
  /** The services of the deployment whose new work it takes itself. */
  own: string[];
  /** Those whose new work another one takes, with its id. */
  taken: { name: string; by: string }[];
}

/** Only the newest registration of a service gets new work: an older deployment ends what it has begun. */
export function newWorkOf({ id, services: served }: Deployment, all: readonly Service[]): NewWork {
  const work: NewWork = { own: [], taken: [] };
  for (const name of served.map((service) => service.name).sort()) {
    const by = all.find((service) => service.name === name)?.deployment_id;
    if (by === id) work.own.push(name);
    else if (by !== undefined) work.taken.push({ name, by });
  }
  return work;
}

/** Such as `yes`, `no`, or the services of which it takes it. */
export function newWorkInWords({ own, taken }: NewWork): string {
  if (taken.length === 0) return own.length === 0 ? 'no' : 'yes';
  return own.length === 0 ? 'no' : own.join(', ');
}
