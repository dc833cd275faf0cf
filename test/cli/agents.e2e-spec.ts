import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jsonLines, killAllClis, reaches, runCli, type CliResult } from '../support/cli.ts';
import { isKind, modelAgentWorld, type TimelineEvent } from '../system/agent-world.ts';

const TYPE = 'cli-model';
const world = modelAgentWorld(TYPE);
beforeAll(() => world.start());
afterAll(async () => {
  await killAllClis();
  await world.stop();
});

const cli = (...args: string[]): Promise<CliResult> =>
  runCli(args, { env: reaches(world.gateway) });
const send = (id: string, message: unknown) => world.client.agents.send(`${TYPE}/${id}`, message);
const until = (id: string, isLast: (event: TimelineEvent) => boolean) =>
  world.readUntil(`${TYPE}/${id}`, isLast);
const accepted = (id: string) => ({
  code: 0,
  out: expect.stringMatching(new RegExp(`^${TYPE}/${id}: accepted as inv_\\w+\n$`)) as unknown,
  err: '',
});

async function waitingCall(id: string): Promise<string> {
  const events = await until(id, ({ kind, state }) => kind === 'tool' && state === 'waiting');
  return String(events.at(-1)?.id);
}

describe('agent-gateway decide', () => {
  it('approves a call with another input, and says who and why', async () => {
    await send('yes', 'pay 50');
    const call = await waitingCall('yes');
    const args = ['--approve', '--by', 'ada', '--note', 'half', '--input', '{"amount": 25}'];
    expect(await cli('decide', `${TYPE}/yes`, call, ...args)).toEqual(accepted('yes'));
    const events = await until('yes', isKind('reply'));
    expect(events.find(isKind('decision'))).toMatchObject({
      call,
      approved: true,
      by: 'ada',
      note: 'half',
      input: { amount: 25 },
    });
    expect(events.at(-1)?.content).toEqual([
      { type: 'text', text: expect.stringContaining('{"paid":25}') as unknown },
    ]);
  });

  it('denies a call, and prints the response as JSON', async () => {
    await send('no', 'pay 51');
    const call = await waitingCall('no');
    const { code, out } = await cli('decide', `${TYPE}/no`, call, '--deny', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ url: `/t/default/a/${TYPE}/no`, replayed: false });
    const events = await until('no', isKind('reply'));
    expect(events.find(isKind('decision'))).toMatchObject({ call, approved: false });
    expect(world.said.filter((line) => line.startsWith('paid 51'))).toEqual([]);
  });

  it.each([
    ['decide', 'k.1', ['--approve']],
    ['stop', 'inv_1x', []],
    ['withdraw', 'inv_1x', []],
    ['forget', '--yes', []],
  ])('sends nothing to an agent that does not exist (%s)', async (command, what, more) => {
    expect(await cli(command, `${TYPE}/never`, what, ...more)).toMatchObject({
      code: 4,
      out: '',
      err: expect.stringContaining(`There is no ${TYPE}/never: the catalog does not have it`),
    });
  });
});

describe('agent-gateway stop and withdraw', () => {
  it('end the turn that is named, and no other', async () => {
    const first = await send('turns', 'hang here');
    const second = await send('turns', 'count 2');
    await world.hears('generate {"text":"hang here"');
    const back = ['--reason', 'asked twice'];
    const address = `${TYPE}/turns`;
    expect(await cli('withdraw', address, second.invocationId, ...back)).toEqual(accepted('turns'));
    expect(await cli('stop', address, first.invocationId)).toEqual(accepted('turns'));
    let replies = 0;
    const events = await until('turns', (event) => isKind('reply')(event) && ++replies === 2);
    expect(events.filter(isKind('reply'))).toEqual([
      expect.objectContaining({
        replyTo: 2,
        stopped: expect.objectContaining({ verb: 'withdraw', reason: 'asked twice' }) as unknown,
      }),
      expect.objectContaining({
        replyTo: 1,
        stopped: expect.objectContaining({ verb: 'stop' }) as unknown,
      }),
    ]);
  });
});

describe('agent-gateway export and forget', () => {
  it('print all events, and then delete them with a receipt', async () => {
    await send('gone', 'count 3');
    const events = await until('gone', isKind('reply'));
    await world.rowOf(`${TYPE}/gone`, 'idle');
    const exported = await cli('export', `${TYPE}/gone`);
    expect({ ...exported, out: jsonLines(exported.out) }).toEqual({
      code: 0,
      err: '',
      out: events,
    });

    // Without a terminal nobody can confirm it.
    expect(await cli('forget', `${TYPE}/gone`)).toMatchObject({ code: 2, out: '' });
    expect((await cli('export', `${TYPE}/gone`)).out).toBe(exported.out);

    const { code, out, err } = await cli('forget', `${TYPE}/gone`, '--yes', '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({
      agent: `/t/default/a/${TYPE}/gone`,
      at: expect.any(String),
      timeline: 'deleted',
      row: 'deleted',
      children: [],
      invocations: expect.any(Number),
      remaining: [],
    });
    expect(await cli('export', `${TYPE}/gone`)).toMatchObject({ code: 4, out: '' });
    // It may be repeated, although nothing is known of the agent any more.
    expect(await cli('forget', `${TYPE}/gone`, '--yes')).toEqual({
      code: 0,
      out: expect.stringMatching(
        new RegExp(
          `^/t/default/a/${TYPE}/gone: forgotten at [\\d: -]+\n  timeline +deleted\n  row +deleted\n  invocations +\\d+ deleted\n  children +none\n$`,
        ),
      ),
      err: '',
    });
  });
});
