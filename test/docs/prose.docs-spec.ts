import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  TextlintKernel,
  type TextlintKernelPlugin,
  type TextlintKernelRule,
  type TextlintMessage,
} from '@textlint/kernel';
import { describe, expect, it } from '@jest/globals';
import { projectFiles, ROOT, readPages, readProjectFile } from './pages.ts';

const PAGES = readPages()
  .map(({ path }) => path)
  // A changelog is of its time; the tables of the bench have no sentences.
  .filter((path) => !/^(?:CHANGELOG|bench\/results\/)/.test(path));
const SOURCE_FOLDERS = ['src', 'packages', 'local', 'tools', 'bench', 'test'];
const COMMENT = /\/\*\*(.*?)\*\/|((?:^[ \t]*\/\/ [^\n]*\n)+)/gms;
/** The longest sentence, in characters: about 35 words. */
const MAX_SENTENCE_CHARACTERS = 240;

const kernel = new TextlintKernel();
const require = createRequire(import.meta.url);
const markdown = load<TextlintKernelPlugin['plugin']>('@textlint/textlint-plugin-markdown');
const prh = load<TextlintKernelRule['rule']>('textlint-rule-prh');
const sentenceLength = load<TextlintKernelRule['rule']>('textlint-rule-sentence-length');

async function complaints(path: string, text = readProjectFile(path)): Promise<string[]> {
  const { messages } = await kernel.lintText(text, {
    ext: '.md',
    filePath: path,
    plugins: [{ pluginId: 'markdown', plugin: markdown }],
    rules: [
      {
        ruleId: 'words',
        rule: prh,
        options: { rulePaths: [join(ROOT, 'test/docs/prose.yml')] },
      },
      {
        ruleId: 'sentence-length',
        rule: sentenceLength,
        options: { max: MAX_SENTENCE_CHARACTERS },
      },
    ],
  });
  return messages.map(complaint);
}

/** These packages are CommonJS with a compiled default export, and have no types. */
function load<Exported>(name: string): Exported {
  const module = require(name) as { default?: Exported };
  return module.default ?? (module as Exported);
}

function complaint({ line, message }: TextlintMessage): string {
  return `line ${line}: ${message.replaceAll(/\s+/g, ' ')}`;
}

function sourcesIn(folder: string): string[] {
  const sources = projectFiles().filter(
    (path) => path.startsWith(`${folder}/`) && /(?<!spec)\.ts$/.test(path),
  );
  expect(sources).not.toEqual([]);
  return sources;
}

/** The comments of a source, each as a paragraph. */
function commentsOf(path: string): string {
  const comments = [...readProjectFile(path).matchAll(COMMENT)].map(([, doc, lines]) =>
    (doc ?? lines ?? '').replaceAll(/^[ \t]*(?:\*|\/\/) ?/gm, '').trim(),
  );
  return comments.join('\n\n');
}

const CODE_OR_ESCAPE = /`[^`]*`|\\\|/g;

// CONTRIBUTING.md has the rules; test/docs/prose.yml has the words.
describe('the prose of', () => {
  it.each(PAGES)('%s has short sentences and common words', async (path) => {
    // The page that shows both sides holds the words of the one.
    const text = readProjectFile(path).replaceAll(/^\|.*$/gm, (row) =>
      path === 'CONTRIBUTING.md' ? '' : row,
    );
    expect(await complaints(path, text)).toEqual([]);
  });
});

describe('the tables of', () => {
  // Text that was wrapped in the middle of a row became rows of its own.
  it.each(PAGES)('%s have as many cells in each row as in their head', (path) => {
    const faults: string[] = [];
    let wanted = 0;
    for (const [index, line] of readProjectFile(path).split('\n').entries()) {
      const cells = line.startsWith('|')
        ? line.replaceAll(CODE_OR_ESCAPE, '').split('|').length
        : 0;
      if (wanted > 0 && cells > 0 && cells !== wanted) faults.push(`line ${index + 1}`);
      else wanted = cells;
    }
    expect(faults).toEqual([]);
  });
});

describe('the comments in', () => {
  it.each(SOURCE_FOLDERS)('%s have common words', async (folder) => {
    const shown: string[] = [];
    // Each source by itself: the rule of the sentences reads the whole text again for each paragraph.
    for (const path of sourcesIn(folder)) {
      const text = commentsOf(path);
      const lines = text.split('\n');
      const found = await complaints(`${path}.md`, text);
      const lineOf = (each: string) => lines[Number(/\d+/.exec(each)?.[0]) - 1];
      shown.push(...found.map((each) => `${path}: ${lineOf(each)} ← ${each}`));
    }
    expect(shown).toEqual([]);
  });
});

describe('the rules for prose', () => {
  it.each([
    ['a private word', 'The reader is told so.'],
    ['a long sentence', `The gateway ${'reads and '.repeat(40)}writes.`],
  ])('refuse %s', async (_, text) => {
    expect(await complaints('page.md', text)).toHaveLength(1);
  });
});
