/** Jest runs this in the process that ran `global-setup.ts`, also after failed tests. */
export default async function globalTeardown(): Promise<void> {
  await globalThis.stopTestRestate?.();
}
