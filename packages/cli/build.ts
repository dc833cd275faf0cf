/**
 * Builds `packages/cli/dist`: the command line, the client library and those rules of the gateway that it loads, and nothing else. `tsc`
 * would write all files that types come from as well, and these need Nest. Types are checked by `npm run typecheck`.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');
const OUT = join(import.meta.dirname, 'dist');
const options: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2024,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
  removeComments: true,
};

rmSync(OUT, { recursive: true, force: true });
const written = new Set<string>();
build(join(import.meta.dirname, 'src/main.ts'));

/** Writes a file and everything that it imports, now or later. */
function build(file: string): void {
  if (written.has(file)) return;
  written.add(file);
  const source = readFileSync(file, 'utf8');
  const { outputText } = ts.transpileModule(source, { compilerOptions: options, fileName: file });
  const target = join(OUT, relative(ROOT, file)).replace(/\.ts$/, '.js');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, outputText);
  for (const { fileName } of ts.preProcessFile(outputText).importedFiles) {
    if (fileName.startsWith('.')) build(join(dirname(file), fileName.replace(/\.js$/, '.ts')));
  }
}
