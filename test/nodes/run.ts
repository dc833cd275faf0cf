/** `npm run test:nodes`: a cluster under load, of which each process is killed, ended and frozen in turn. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { HISTORIES, type HistoryKind } from '../../local/cluster/cluster.ts';
import { giveUp } from '../support/checks.ts';
import { startLocalSystem, type LocalSystem } from '../support/local-system.ts';
import { sampleOf } from '../support/share.ts';
import { grow } from './grow.ts';
import { Load, type Client, type Command } from './load.ts';
import { play, scenesOf, type Scene } from './scenes.ts';
import { isGood, summaryOf, verdictOn } from './verdict.ts';

const HELP = `npm run test:nodes [-- OPTIONS]

Three nodes of Restate, three gateways and a history store, under 20 commands a second, turns of agents and 100 readers. Each
process is killed, ended and frozen in turn. Nothing that was accepted may be lost or run twice, and no reader may miss an event.
It takes five minutes. TEST_SHARE=0.2 plays a fifth of the scenes.

  --history KIND  The history store: ${HISTORIES.join(' or ')} (default node).
  --rate N        Commands a second (default 20). A store that makes fewer appends a second needs less.
  --readers N     Readers of timelines (default 100).
  --scenes TEXT   Plays only those whose names have this in them.
  --report FILE   Writes the table there, in Markdown.
  --grow          Instead of the scenes, one node of Restate becomes three, and then the first one is killed.
  --help          Show this.
`;

/** Before the first scene, to see how it is without one. */
const CALM_MS = 5_000;

interface Wanted {
  history: HistoryKind;
  rate: number;
  readers: number;
  scenes: Scene[];
  report: string | undefined;
}

interface Played {
  name: string;
  commands: Command[];
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      history: { type: 'string', default: 'node' },
      report: { type: 'string' },
      grow: { type: 'boolean', default: false },
      scenes: { type: 'string', default: '' },
      rate: { type: 'string', default: '20' },
      readers: { type: 'string', default: '100' },
      help: { type: 'boolean', default: false },
    },
  });
  if (options.help) {
    process.stdout.write(HELP);
    return;
  }
  if (options.grow) {
    if (!(await grow())) process.exitCode = 1;
    return;
  }
  const history = HISTORIES.find((kind) => kind === options.history);
  const [rate, readers] = [Number(options.rate), Number(options.readers)];
  if (!history || !(rate > 0) || !(readers > 0)) {
    giveUp(`--history is ${HISTORIES.join(' or ')}, --rate and --readers are numbers above 0.`);
    return;
  }
  // Short, because Unix sockets are below it.
  const folder = await mkdtemp(join(tmpdir(), 'nodes-'));
  const system = await startLocalSystem(folder, '--cluster', '--history', history);
  try {
    const scenes = scenesOf(history).filter(({ name }) => name.includes(options.scenes));
    const { report } = options;
    const wanted: Wanted = { history, rate, readers, scenes: sampleOf(scenes), report };
    if (!(await run(system, folder, wanted))) process.exitCode = 1;
  } finally {
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(
  system: LocalSystem,
  folder: string,
  { history, rate, readers, scenes, report }: Wanted,
): Promise<boolean> {
  const load = new Load(system);
  await load.start(rate, readers);
  try {
    const played = [await during('nothing', load, () => sleep(CALM_MS))];
    for (const scene of scenes) {
      console.log(scene.name);
      played.push(await during(scene.name, load, () => play(scene, folder)));
    }
    await load.end();
    const verdict = await verdictOn(load);
    const text = tableOf(played) + summaryOf(verdict, history);
    console.log(text);
    if (report !== undefined) await writeFile(report, text);
    return isGood(verdict, load, history);
  } finally {
    await load.stop();
  }
}

async function during(name: string, load: Load, happens: () => Promise<unknown>): Promise<Played> {
  const first = load.commands.length;
  await happens();
  return { name, commands: load.commands.slice(first) };
}

function tableOf(played: readonly Played[]): string {
  const rows = played.map(({ name, commands }) => {
    const cells = (['patient', 'impatient'] as const).flatMap((client) =>
      cellsOf(commands, client),
    );
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  return [
    '| What happens | With retries | longest wait, s | Without | longest wait, s |',
    '| --- | --: | --: | --: | --: |',
    ...rows,
    '',
    '',
  ].join('\n');
}

function cellsOf(all: readonly Command[], client: Client): string[] {
  const commands = all.filter((command) => command.client === client);
  const count = (outcome: Command['outcome']): number =>
    commands.filter((command) => command.outcome === outcome).length;
  const longestMs = Math.max(0, ...commands.map(({ waitedMs }) => waitedMs));
  const notAccepted = [
    ['not sent', count('refused')],
    ['in doubt', count('doubtful')],
  ].flatMap(([how, many]) => (many === 0 ? [] : [`, ${many} ${how}`]));
  return [`${commands.length}${notAccepted.join('')}`, (longestMs / 1_000).toFixed(1)];
}

await main();
