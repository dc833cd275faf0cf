import { execFile } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parsePage } from '../docs/markdown.ts';
import { readProjectFile } from '../docs/pages.ts';
import { API_KEY } from '../support/credentials.ts';
import { newFolder, type Folder } from '../support/new-folder.ts';
import { AgentWorld, isKind, wordsOf } from '../system/agent-world.ts';

const PAGE = 'docs/from-python.md';
const { PYTHON_BIN = '' } = process.env;
const WHOLE = Array.from({ length: 200 }, (_, index) => `${index + 1} `).join('');

// The programs of the page, with a recorded model in place of the one that its reader has.
describe('the programs of "From Python"', () => {
  let folder: Folder;
  let world: AgentWorld;

  beforeAll(async () => {
    folder = await newFolder();
    for (const { name, text } of parsePage(PAGE, readProjectFile(PAGE)).blocks) {
      if (name !== undefined) writeFileSync(join(folder.path, name), text);
    }
    const main = join(folder.path, 'recorded_model.py');
    copyFileSync(join(import.meta.dirname, 'recorded_model.py'), main);
    const command = join(PYTHON_BIN, 'python');
    world = new AgentWorld({ command, main, env: {}, port: 'PORT', listens: 'listening on ' });
    await world.start();
  });

  afterAll(async () => {
    await world?.stop();
    await folder?.stop();
  });

  const ask = async (id: string): Promise<string> => {
    const env = { GATEWAY_URL: world.gateway.url, GATEWAY_API_KEY: API_KEY };
    const args = [join(folder.path, 'ask.py'), `py-writer/${id}`, 'count'];
    return (await promisify(execFile)(join(PYTHON_BIN, 'python'), args, { env })).stdout;
  };

  it('print each word once while the agents and the gateway are killed in mid-answer', async () => {
    const asked = ask('killed');
    let deaths = 0;
    const events = await world.readUntil('py-writer/killed', isKind('reply'), async (event) => {
      // However many words a busy machine puts into one event, each death brings another one.
      const isNow = event.kind === 'word' && Number(event.index) >= deaths;
      if (!isNow || deaths === 3) return;
      deaths += 1;
      if (deaths === 2) {
        const { port } = new URL(world.gateway.url);
        await world.gateway.stop();
        await world.startGateway(Number(port));
        return;
      }
      await world.agents.kill();
      await world.startAgents();
    });
    expect(deaths).toBe(3);
    expect(wordsOf(events, 1)).toBe(WHOLE);
    expect(await asked).toBe(`${WHOLE}\n`);
    // The model was asked to continue, not to begin again.
    expect(world.said.filter((line) => /asked .*Continue right after: 1 /.test(line))).toHaveLength(
      2,
    );
  });

  // The SDK cancels the call that records along with the answer.
  it('keep what was said, each word once, when an operator cancels the answer', async () => {
    await world.client.agents.send('py-writer/cancelled', 'count');
    const events = await world.readUntil('py-writer/cancelled', isKind('reply'), async (event) => {
      if (event.kind !== 'word' || event.index !== 0) return;
      const open = await world.client.invocations.list({ agent: 'py-writer/cancelled' });
      const run = open.find(({ target }) => target === 'py-writerTurn/run');
      await world.client.invocations.cancel(run?.id ?? '');
    });
    const words = wordsOf(events, 1);
    const reply = events.at(-1) as { content?: { text: string }[]; stopped?: unknown } | undefined;
    expect(reply?.stopped).toEqual({ verb: 'interrupt' });
    expect(WHOLE.startsWith(words)).toBe(true);
    expect(reply?.content?.[0]?.text.startsWith(words)).toBe(true);
    expect(events.filter(({ kind }) => kind === 'restored')).toEqual([]);
    expect(await ask('cancelled')).toBe(`${WHOLE}\n`);
  });
});
