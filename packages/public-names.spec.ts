import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const PACKAGES = import.meta.dirname;
const ENTRIES = ['client', 'client/agent', 'client/server', 'react', 'ai-sdk'].map((name) => {
  const [folder = '', part = ''] = name.split('/');
  return { name: `@agent-gateway/${name}`, file: join(PACKAGES, folder, 'src', part, 'index.ts') };
});

const program = ts.createProgram(
  ENTRIES.map(({ file }) => file),
  {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    noLib: true,
    types: [],
  },
);
const checker = program.getTypeChecker();

function publicSymbols(file: string): ts.Symbol[] {
  const source = program.getSourceFile(file);
  const entry = source && checker.getSymbolAtLocation(source);
  if (!entry) throw new Error(`${file} exports nothing`);
  return checker
    .getExportsOfModule(entry)
    .map((symbol) =>
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    )
    .filter(({ declarations }) => declarations?.some(isOurs));
}

function isOurs(declaration: ts.Declaration): boolean {
  const { fileName } = declaration.getSourceFile();
  return fileName.startsWith(PACKAGES) && !fileName.includes('/node_modules/');
}

describe.each(ENTRIES)('$name', ({ file }) => {
  // An editor shows the docstring where a name is used. Forty names had none.
  it('says of each public name what it is', () => {
    const symbols = publicSymbols(file);
    const silent = symbols.filter(
      (symbol) =>
        symbol.getDocumentationComment(checker).length === 0 &&
        symbol.getJsDocTags(checker).length === 0,
    );
    expect(symbols.length).toBeGreaterThan(0);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});
