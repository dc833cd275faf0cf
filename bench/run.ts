import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HELP, parseOptions, type BenchOptions } from './options.ts';
import { installPeerPackages } from './peer-packages.ts';
import { missingProgram } from './programs.ts';
import { fanOutTables } from './report/fan-out-table.ts';
import { readsTables } from './report/reads-table.ts';
import type { BenchContext } from './scenarios/context.ts';
import { measureFanOut } from './scenarios/fan-out.ts';
import { measurePlain } from './scenarios/plain.ts';
import { measureSameUrl } from './scenarios/same-url.ts';

const PROFILES = join(import.meta.dirname, '../.local/bench/profiles');

async function main(options: BenchOptions): Promise<void> {
  const missing = missingProgram('wrk') ?? missingProgram('nginx');
  if (missing !== undefined) throw new Error(`nothing can be measured: ${missing}`);
  await installPeerPackages(say);
  const context = await contextOf(options);
  for (const part of options.only) {
    say(`\n== ${part}`);
    if (part === 'plain') {
      print(readsTables(await measurePlain(context)));
    } else if (part === 'fan-out') {
      print(fanOutTables(await measureFanOut(context)));
    } else {
      const { instant, store } = await measureSameUrl(context);
      print(`${readsTables(instant)}\n\n${readsTables(store)}`);
    }
  }
  if (options.profile) say(`profiles of the gateway: ${PROFILES} (open one in Chrome's DevTools)`);
}

async function contextOf(options: BenchOptions): Promise<BenchContext> {
  if (options.profile) await mkdir(PROFILES, { recursive: true });
  return {
    options,
    say,
    gatewayNodeArgs: (part) =>
      options.profile
        ? [
            '--cpu-prof',
            `--cpu-prof-dir=${PROFILES}`,
            `--cpu-prof-name=${part}-${Date.now()}.cpuprofile`,
          ]
        : [],
    chosen: (contenders) => contenders.filter(({ id }) => options.contenders?.includes(id) ?? true),
  };
}

function say(line: string): void {
  console.log(line);
}

function print(markdown: string): void {
  console.log(`\n${markdown}\n`);
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') console.log(HELP);
  else await main(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
