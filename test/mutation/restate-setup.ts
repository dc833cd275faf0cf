import { startRestateOfRun } from '../support/restate-of-run.ts';

/** Each mutant gets a Restate of its own: one that has seen the commands of another mutant would answer otherwise. */
export default async function restateSetup(): Promise<void> {
  globalThis.stopTestRestate = await startRestateOfRun();
}
