/** Replaces the blocks of a page that come from measurements: all text between the marks of a block. */
const BLOCK = /<!-- bench: (?<name>[\w-]+) -->\n(?<content>[\s\S]*?)<!-- bench: end -->/g;

/**
 * A page with new blocks. The prose between them stays unchanged. Throws where the page
 * has a block that was not measured, or lacks one that was.
 */
export function fillPage(page: string, blocks: ReadonlyMap<string, string>): string {
  const filled = new Set<string>();
  const text = page.replace(BLOCK, (_, name: string) => {
    const content = blocks.get(name);
    if (content === undefined) throw new Error(`there are no measurements for the block "${name}"`);
    filled.add(name);
    return `<!-- bench: ${name} -->\n\n${content}\n\n<!-- bench: end -->`;
  });
  const lacking = [...blocks.keys()].filter((name) => !filled.has(name));
  if (lacking.length > 0) throw new Error(`the page has no block for ${lacking.join(', ')}`);
  return text;
}
