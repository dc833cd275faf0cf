import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const PACKAGES = join(import.meta.dirname, '../../packages');
/** Those that programs import. The command line and the MCP server have no names, but commands and tools. */
const LIBRARIES = ['client', 'react', 'ai-sdk', 'ag-ui'];

/** A module of a package, such as `@agent-gateway/client/agent`, and the names that it exports. */
export interface Entry {
  name: string;
  names: PublicName[];
}

export interface PublicName {
  name: string;
  symbol: ts.Symbol;
  /** It is exported as a type: a program names it, but cannot make one. */
  isTypeOnly: boolean;
}

export interface PublicNames {
  checker: ts.TypeChecker;
  entries: Entry[];
}

/** The names of every entry that a library declares in its `package.json`, in the order of their export. */
export function readPublicNames(): PublicNames {
  const files = new Map(LIBRARIES.flatMap(entriesOf));
  const program = ts.createProgram([...files.values()], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    // Names and comments need no library of types, which is slow to read.
    noLib: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const entries = [...files].map(([name, file]) => {
    const source = program.getSourceFile(file);
    const entry = source && checker.getSymbolAtLocation(source);
    if (!entry) throw new Error(`${file} exports nothing`);
    const exported = checker.getExportsOfModule(entry).map((each) => publicName(checker, each));
    return { name, names: exported.filter(({ symbol }) => symbol.declarations?.some(isOurs)) };
  });
  return { checker, entries };
}

/** Each entry and its source file. */
function entriesOf(library: string): [string, string][] {
  const folder = join(PACKAGES, library);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, { types: string }>;
  };
  return Object.entries(manifest.exports).map(([path, { types }]) => [
    `${manifest.name}${path.slice(1)}`,
    join(folder, types.replace('/dist/', '/src/').replace('.d.ts', '.ts')),
  ]);
}

function publicName(checker: ts.TypeChecker, exported: ts.Symbol): PublicName {
  const { name, flags } = exported;
  const isAlias = (flags & ts.SymbolFlags.Alias) !== 0;
  const isTypeOnly = exported.declarations?.some(ts.isTypeOnlyExportDeclaration) ?? false;
  return { name, symbol: isAlias ? checker.getAliasedSymbol(exported) : exported, isTypeOnly };
}

function isOurs(declaration: ts.Declaration): boolean {
  const { fileName } = declaration.getSourceFile();
  return fileName.startsWith(PACKAGES) && !fileName.includes('/node_modules/');
}
