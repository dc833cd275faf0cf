import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  imageLabels,
  readMetadata,
  setMetadata,
  strayMetadata,
  unfinished,
  type Metadata,
} from './metadata.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = [
  'tools/release/metadata.json',
  'package.json',
  'packages/client/package.json',
  'packages/cli/package.json',
  'packages/react/package.json',
  'packages/ai-sdk/package.json',
  'packages/ag-ui/package.json',
  'packages/mcp/package.json',
  'helm/agent-gateway/Chart.yaml',
];
const OWNED: Metadata = {
  homepage: 'https://gateway.acme.com',
  repository: 'https://git.acme.com/gateway',
  icon: 'https://gateway.acme.com/icon.svg',
  license: 'Apache-2.0',
  maintainers: [
    { name: 'Ada $1', email: 'ada@acme.com', url: 'https://acme.com/ada' },
    { name: 'Lin', email: 'lin@acme.com', url: 'https://acme.com/lin' },
  ],
};

describe('the metadata of the project', () => {
  let copy: string;
  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'metadata-'));
    for (const file of FILES) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(ROOT, file), join(copy, file));
    }
  });
  afterEach(() => rmSync(copy, { recursive: true }));

  const own = (metadata: Partial<Metadata>): void =>
    writeFileSync(
      join(copy, 'tools/release/metadata.json'),
      JSON.stringify({ ...OWNED, ...metadata }),
    );

  it('is the same wherever it stands', () => {
    expect(strayMetadata(ROOT)).toEqual([]);
  });

  it('is written wherever it stands', () => {
    own({});
    expect(strayMetadata(copy)).toEqual(FILES.slice(1));
    writeFileSync(join(copy, 'LICENSE'), 'the text');
    setMetadata(copy);
    expect(strayMetadata(copy)).toEqual([]);
    expect(JSON.parse(readFileSync(join(copy, 'packages/cli/package.json'), 'utf8'))).toMatchObject(
      {
        name: '@agent-gateway/cli',
        homepage: OWNED.homepage,
        repository: { type: 'git', url: OWNED.repository },
        license: 'Apache-2.0',
        author: 'Ada $1 <ada@acme.com>',
      },
    );
    expect(readFileSync(join(copy, 'packages/cli/LICENSE'), 'utf8')).toBe('the text');
    const chart = readFileSync(join(copy, 'helm/agent-gateway/Chart.yaml'), 'utf8');
    expect(chart).toContain('  - name: Ada $1\n    email: ada@acme.com\n');
    expect(chart).not.toContain('.example\n');
    expect(unfinished(copy)).toBeUndefined();
  });

  it('is not for publishing while it has placeholders', () => {
    expect(unfinished(copy)).toBe(
      'tools/release/metadata.json has placeholders (homepage, repository, icon, maintainers): fill them in; ' +
        "the license is the owner's to choose: name it in tools/release/metadata.json, and add a file LICENSE; " +
        'then run npm run release -- --set-metadata.',
    );
    own({});
    expect(unfinished(copy)).toBe(
      'the text of Apache-2.0 is missing: add a file LICENSE; then run npm run release -- --set-metadata.',
    );
    own({ homepage: 'https://gateway.example.com' });
    expect(unfinished(copy)).not.toContain('placeholders');
  });

  it('has the labels of the image, without a licence while there is none', () => {
    expect(imageLabels(OWNED)).toEqual([
      'org.opencontainers.image.url=https://gateway.acme.com',
      'org.opencontainers.image.source=https://git.acme.com/gateway',
      'org.opencontainers.image.licenses=Apache-2.0',
      'org.opencontainers.image.authors=Ada $1 <ada@acme.com>, Lin <lin@acme.com>',
    ]);
    expect(imageLabels(readMetadata(ROOT)).join()).not.toContain('licenses');
  });
});
