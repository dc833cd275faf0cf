import assert from 'node:assert/strict';
import type { Checks } from '../support/checks.ts';
import { inNamespace } from './namespace.ts';
import type { RollingOutcome } from './rolling-restart.ts';
import type { MachinesOutcome } from './two-machines.ts';
import type { WaitingOutcome } from './waiting-connections.ts';

export async function checkSharedPort(checks: Checks): Promise<void> {
  checks.section('copies on one port');

  await checks.check('get the connections that wait for a copy whose socket closes', async () => {
    const { waited, outcomes } = await inNamespace<WaitingOutcome>('waiting-connections.ts', true);
    assert.ok(waited > 0);
    assert.deepEqual(outcomes, { 200: 40 });
  });

  // docs/one-machine.md says that these are lost, and that nothing else is.
  await checks.check('lose these alone without net.ipv4.tcp_migrate_req', async () => {
    const { waited, outcomes } = await inNamespace<WaitingOutcome>('waiting-connections.ts', false);
    assert.ok(waited > 0);
    assert.deepEqual(outcomes, { 200: 40 - waited, 'ECONNRESET on a new connection': waited });
  });

  for (const way of ['direct', 'haproxy']) {
    await checks.check(`lose no request of a rolling restart under load: ${way}`, async () => {
      const { outcomes, commands } = await inNamespace<RollingOutcome>('rolling-restart.ts', true, [
        way,
      ]);
      assert.ok(commands > 100, `${commands} commands`);
      assert.deepEqual(outcomes, { 202: commands });
    });
  }

  checks.section('two machines');
  await checks.check(
    'lose no request while one is drained, and serve on after its loss',
    async () => {
      const { drained, lost, said } = await inNamespace<MachinesOutcome>('two-machines.ts', true);
      assert.deepEqual(Object.keys(drained), ['202']);
      assert.deepEqual(lost, { 202: 20 });
      assert.deepEqual(said, [503, 200]);
    },
  );
}
