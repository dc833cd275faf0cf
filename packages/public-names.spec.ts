import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentGateway } from '@agent-gateway/client';
import { describe, expect, it } from '@jest/globals';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { readPublicNames } from '../tools/reference/public-names.ts';
import type { CliContext } from './cli/src/cli-context.ts';
import { commandTree } from './cli/src/completion/command-tree.ts';
import { createProgram } from './cli/src/program.ts';
import { createServer } from './mcp/src/server.ts';

const { checker, entries } = readPublicNames();

/** `tools/reference/reference-page.spec.ts` checks that they are in the documentation. */
describe.each(entries)('$name', ({ names }) => {
  // An editor shows the docstring where a name is used. Forty names had none.
  it('says of each public name what it is', () => {
    const silent = names.filter(
      ({ symbol }) =>
        symbol.getDocumentationComment(checker).length === 0 &&
        symbol.getJsDocTags(checker).length === 0,
    );
    expect(names.length).toBeGreaterThan(0);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

describe('the command line', () => {
  it('has every command in the table of its page', () => {
    const rows = read('docs/command-line.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((row) => new Set(row.split(/[^a-z]+/)));
    const paths = commandTree(createProgram({} as CliContext)).map(({ path }) => path);
    const commands = paths.filter((path) => path !== '');
    expect(commands).toEqual(expect.arrayContaining(['spawn', 'token mint']));
    const isShown = (path: string): boolean =>
      rows.some((row) => path.split(' ').every((word) => row.has(word)));
    expect(commands.filter((path) => !isShown(path))).toEqual([]);
  });
});

describe('the MCP server', () => {
  it('has every tool in its README, with what it does', async () => {
    const gateway = new AgentGateway({ url: 'http://127.0.0.1:2', apiKey: 'none' });
    const server = createServer(gateway, '1.0.0');
    const client = new Client({ name: 'test', version: '1.0.0' });
    const [end, otherEnd] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(end), client.connect(otherEnd)]);
    const { tools } = await client.listTools();
    await client.close();
    const described = [...read('packages/mcp/README.md').matchAll(/^\| `(\w+)` +\| \w.+\|$/gm)];
    expect(described.map(([, name]) => name)).toEqual(tools.map(({ name }) => name));
  });
});
