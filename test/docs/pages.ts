import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePage, type Page } from './markdown.ts';

export const ROOT = join(import.meta.dirname, '../..');

const NOT_OURS = new Set(['.git', '.local', 'coverage', 'dist', 'node_modules']);

/** Every file of the project: paths from the root. */
export function projectFiles(folder = ''): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return projectFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Whether the project has a file or a folder at this path. */
export function isInProject(path: string, files = projectFiles()): boolean {
  return files.some((file) => file === path || file.startsWith(`${path}/`));
}

export const readProjectFile = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every page of Markdown. */
export function readPages(): Page[] {
  return projectFiles()
    .filter((path) => path.endsWith('.md'))
    .map((path) => parsePage(path, readProjectFile(path)));
}
