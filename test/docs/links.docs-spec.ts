import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isInProject, projectFiles, readPages, readProjectFile } from './pages.ts';

const pages = readPages();
const pageOf = new Map(pages.map((page) => [page.path, page]));
const files = projectFiles();

/** The problem with a link to a path of the project, from a file in that folder. */
function linkProblem(folder: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? folder : normalize(join(folder, path)).replace(/\/$/, '');
  if (!isInProject(file, files)) return `${target}: there is no ${file}`;
  if (anchor === undefined) return undefined;
  const page = pageOf.get(file);
  if (!page) return `${target}: ${file} is no page, and has no anchors`;
  return page.anchors.has(anchor) ? undefined : `${target}: ${file} has no such heading`;
}

describe('links', () => {
  it.each(pages.map((page) => [page.path, page] as const))(
    'of %s lead to files and headings that are there',
    (path, { links }) => {
      const problems = links
        .filter(({ text }) => !/^[a-z]+:/.test(text))
        .map(({ text, line }) => {
          const isOwn = text.startsWith('#');
          const problem = isOwn
            ? linkProblem(path, text)
            : linkProblem(dirname(path).replace(/^\.$/, ''), text);
          return problem && `line ${line}: ${problem}`;
        });
      expect(problems.filter(Boolean)).toEqual([]);
    },
  );

  it('to other places are https, or of this machine', () => {
    const odd = pages.flatMap(({ path, links }) =>
      links
        .filter(({ text }) => /^[a-z]+:/.test(text))
        .filter(({ text }) => !/^(https:\/\/|http:\/\/127\.0\.0\.1:)/.test(text))
        .map(({ text }) => `${path}: ${text}`),
    );
    expect(odd).toEqual([]);
  });

  it('of code, settings, alerts and the chart name pages and headings that are there', () => {
    const reference =
      /(?<![\w/.-])((?:\.{0,2}\/)*(?:docs\/[\w./-]+|README|CONTRIBUTING|CHANGELOG)\.md(?:#[\w-]+)?)/g;
    const found = files
      // The links in the text of the reference are those of the page that it becomes.
      .filter((file) => !/\.md$|^(test\/docs|tools\/reference)\//.test(file))
      .flatMap((file) =>
        [...readProjectFile(file).matchAll(reference)].map(([, target = '']) => ({ file, target })),
      );
    const problems = found.map(({ file, target }) => {
      // Relative to the file where it says so, else to the root.
      const problem = linkProblem(target.startsWith('.') ? dirname(file) : '', target);
      return problem && `${file}: ${problem}`;
    });
    expect(found.length).toBeGreaterThan(5);
    expect(problems.filter(Boolean)).toEqual([]);
  });

  it('lead from the index to every page of docs', () => {
    const listed = pageOf.get('docs/README.md')?.links.map(({ text }) => `docs/${text}`);
    const inDocs = [...pageOf.keys()].filter((path) => /^docs\/[\w-]+\.md$/.test(path));
    expect(inDocs.filter((path) => path !== 'docs/README.md' && !listed?.includes(path))).toEqual(
      [],
    );
  });
});
