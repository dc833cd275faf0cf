/** A row of a table of `docs/README.md`: the page as a link, and when to read it. */
const ROW = /^\| (\[[^\]]+\]\([^)]+\)) +\| (.+?) +\|$/;

/**
 * The text of `docs/llms.txt`, in the form of https://llmstxt.org: what the project is, from its README, and every
 * page of the index of the documentation. Links are relative to `docs/`.
 */
export function llmsText(readme: string, index: string): string {
  const [title = '', summary = ''] = readme.split('\n\n');
  const lines = index
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      if (line.startsWith('## ')) return ['', line, ''];
      const [, link, about] = ROW.exec(line) ?? [];
      return link === undefined ? [] : [`- ${link}: ${about}`];
    });
  return [title, '', `> ${summary.trim().replaceAll('\n', ' ')}`, ...lines, ''].join('\n');
}
