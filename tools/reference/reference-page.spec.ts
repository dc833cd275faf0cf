import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { formattedPage, REFERENCE_FILE } from './formatted-page.ts';
import { readPublicNames } from './public-names.ts';

const page = readFileSync(REFERENCE_FILE, 'utf8');

describe('packages/REFERENCE.md', () => {
  it('is what the comments of the sources say: else run `npm run reference`', async () => {
    expect(page).toBe(await formattedPage());
  });

  it.each(readPublicNames().entries.map((entry) => [entry.name, entry.names] as const))(
    'has every name of %s, with what it is',
    (entry, names) => {
      const [, section = ''] = page.split(/^## /m).flatMap((part) => {
        const [heading = '', ...rest] = part.split('\n');
        return heading === `\`${entry}\`` ? [heading, rest.join('\n')] : [];
      });
      const shown = new Map(
        [
          ...section.matchAll(/^### `(\w+)`\n\n(.*)$/gm),
          ...section.matchAll(/^\| `(?:new )?(\w+).*?` +\| (.*?) +\|$/gm),
        ].map(([, name, what]) => [name, what] as const),
      );
      const silent = names.filter(({ name }) => !/\w{3}/.test(shown.get(name) ?? ''));
      expect(names.length).toBeGreaterThan(0);
      expect(silent.map(({ name }) => name)).toEqual([]);
    },
  );

  it('shows how names and members are used', () => {
    const lines = [
      /^\| `isOpen\(options: Pick<Turn, 'state'>\): boolean` +\| \w/m,
      /^\| `new AgentGateway\(options: AgentGatewayOptions\)` +\| \w/m,
      /^\| `ControlVerb = 'interrupt' \\\| 'pause' \\\| 'resume' \\\| 'archive'` +\| \w/m,
      /^\| `idempotencyKey\?: string` +\| \w/m,
      /^What every command takes\. Extends `RequestOptions`\.$/m,
      /^\| `EntityRow` +\| The same as in `@agent-gateway\/client`\. +\|$/m,
    ];
    expect(lines.filter((line) => !line.test(page))).toEqual([]);
    // What is private, and the constructors of what only the library makes.
    expect(page).not.toMatch(/`#|new (?:Agents|Answer)\(|__/);
  });
});
