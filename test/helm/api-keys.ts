import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseApiKeys } from '../../src/contract/secret-lists.ts';
import type { Checks } from '../support/checks.ts';
import { minimal, refusal, render } from './chart.ts';
import { parseYaml } from './yaml.ts';

const KEY = 'sesame-sesame-sesame';
const DIGEST = `sha256:${'5e'.repeat(32)}`;

const GOOD: string[][] = [
  [KEY],
  [KEY, `${KEY}-2`, DIGEST],
  ['c2VzYW1lIHNlc2FtZQ==', `_${'x'.repeat(255)}`],
  [`${KEY} name=a`, `${DIGEST.toUpperCase().replace('SHA', 'sha')} scopes=commands name=b`],
  [`${DIGEST}  name=a paths=/streams/t/a+/streams/t/b%20c~d:e@f scopes=streams:read+commands`],
];

/** Wrong by form. What names, scopes and paths there are, the gateway alone knows. */
const WRONG: [string, string[]][] = [
  ['a key has spaces', [`${KEY} sesame`]],
  ['a key is too long', ['sesame'.repeat(43)]],
  ['a key is a path', ['/streams/t/sesame']],
  ['a key is an attribute', [`${KEY} name=a`, 'scopes=streams:read+sesame']],
  ['a key has quotes', [`"${KEY}"`]],
  ['a key has a # in it', ['sesame#sesame#sesame']],
  ['a key has = in the middle', ['sesame=sesame=sesame']],
  ['a digest is cut', [DIGEST.slice(0, -1)]],
  ['a digest is in capitals', [DIGEST.toUpperCase()]],
  ['a digest has no colon', [DIGEST.replace(':', '-')]],
  ['there is a comma in the paths', [`${KEY} name=a paths=/streams/a,/streams/sesame`]],
  ['an entry has two lines', [`${KEY} name=a\n  scopes=commands`]],
  ['an entry ends in a comment', [`${KEY} name=a # sesame`]],
  ['one of the entries has no name', [`${KEY} name=a`, `${KEY}-2`]],
  ['an entry with scopes has no name', [`${KEY} scopes=commands`]],
];

/** The gateway reads the keys of the chart as a file, and those of the Compose file as a variable. */
export async function checkApiKeys(checks: Checks): Promise<void> {
  await checks.check('renders the lists of API keys that the gateway takes', () => {
    for (const apiKeys of GOOD) {
      assert.deepEqual(parseApiKeys(apiKeys.join('\n'), 'file').problems, []);
      render(minimal({ secrets: { apiKeys } }));
    }
  });
  for (const [when, apiKeys] of WRONG) {
    await checks.check(`refuses to render where ${when}, as the gateway would, silently`, () => {
      assert.notDeepEqual(parseApiKeys(apiKeys.join('\n'), 'file').problems, []);
      const message = refusal(minimal({ secrets: { apiKeys } }));
      assert.match(message, /secrets\.apiKeys\[\d\] must /);
      assert.doesNotMatch(message, /sesame|5e5e/i);
    });
  }
  await checks.check('the API keys of compose.yaml are a list that the gateway takes', () => {
    const file = readFileSync(join(import.meta.dirname, '../../deploy/compose.yaml'), 'utf8');
    const { services } = parseYaml(file) as {
      services: Record<string, { environment: Record<string, string> }>;
    };
    let made = 0;
    const keys = services['gateway']?.environment['GATEWAY_API_KEYS']?.replace(
      /\$\{\w+(?::\?[^}]*)?\}/g,
      // As make-secrets.sh makes them.
      () => String(++made).padStart(64, '0'),
    );
    const { entries, problems } = parseApiKeys(keys ?? '', 'variable');
    assert.deepEqual(problems, []);
    assert.deepEqual(
      entries.map(({ name }) => name),
      ['terminal', 'agents', 'register'],
    );
  });
}
