/** The section of a changelog (Keep a Changelog) for one version. Throws an Error if it is missing or empty. */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## [${version}]".`);
  const body = section.slice(section.indexOf('\n')).trim();
  if (body === '') throw new Error(`The section "## [${version}]" of CHANGELOG.md is empty.`);
  return `${body}\n`;
}
