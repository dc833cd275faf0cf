import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { API_KEY, startTestGateway } from '../support/gateway.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'node_modules/.bin');
/** The generator and the compiler are slow on a busy machine. */
const RUN_TIMEOUT_MS = 120_000;

describe('the client of docs/http-api.md', () => {
  let answers: [status: number, body: object][];
  const folder = forAllTests(newFolder);
  const runtime = forAllTests(() =>
    startScriptedUpstream((_request, response) => {
      const [status, body] = answers.shift() ?? [500, {}];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }),
  );
  const gateway = forAllTests(() => startTestGateway({ GATEWAY_RUNTIME_INGRESS_URL: runtime.url }));

  beforeAll(async () => {
    await writeFile(join(folder.path, 'package.json'), '{"type":"module"}');
    const page = await readFile(join(ROOT, 'docs/http-api.md'), 'utf8');
    const [, program] = /```ts spawn\.ts\n(.*?)```/s.exec(page) ?? [];
    await writeFile(join(folder.path, 'spawn.ts'), program ?? '');
    const [, command] = /^npx -p @redocly\/cli (redocly generate-client .*)$/m.exec(page) ?? [];
    const [tool = '', ...args] = (command ?? '').split(' ');
    const output = args.indexOf('--output') + 1;
    args[output] = join(folder.path, args[output] ?? '');
    await run(join(BIN, tool), args);
  }, RUN_TIMEOUT_MS);

  function run(command: string, args: string[]) {
    return promisify(execFile)(command, args, {
      cwd: ROOT,
      env: {
        PATH: `${BIN}${delimiter}${process.env.PATH}`,
        REDOCLY_TELEMETRY: 'off',
        GATEWAY_URL: gateway.url,
        GATEWAY_API_KEY: API_KEY,
      },
    });
  }

  const runSpawn = () => run(process.execPath, [join(folder.path, 'spawn.ts')]);

  it(
    'knows the types of what it sends and gets',
    async () => {
      const options = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext'];
      const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
      const args = [...options, ...types, '--allowImportingTsExtensions', '--ignoreConfig'];
      const { stdout } = await run(join(BIN, 'tsc'), [...args, join(folder.path, 'spawn.ts')]);
      expect(stdout).toBe('');
    },
    RUN_TIMEOUT_MS,
  );

  it('spawns, and prints where to read', async () => {
    answers = [[202, { invocationId: 'inv_1', status: 'Accepted' }]];
    const { stdout, stderr } = await runSpawn();
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^\/streams\/t\/default\/agents\/assistant\/[0-9a-z]{26}\/timeline\n$/);
    expect(runtime.seen.at(-1)?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('prints the code of an error', async () => {
    answers = [[404, { message: 'service not found' }]];
    const { stdout, stderr } = await runSpawn();
    expect(stdout).toBe('');
    expect(stderr).toMatch(
      /^entity_type_not_registered: The runtime knows no such .* \([0-9A-Z]{26}\)\n$/,
    );
  });
});
