import ts from 'typescript';
import type { Entry, PublicName, PublicNames } from './public-names.ts';
import { heritageOf, signatureOf } from './signature.ts';

/** The page that shows how an entry is used. */
const GUIDES: Readonly<Record<string, string>> = {
  '@agent-gateway/client':
    'In back ends and pages. [The client library](../docs/client.md) shows how it is used.',
  '@agent-gateway/client/tokens':
    'In back ends that let pages read. [The client library](../docs/client.md#in-a-page) shows how it is used.',
  '@agent-gateway/client/server':
    'In the back end of a chat. [A chat app](../docs/chat.md) shows how it is used.',
  '@agent-gateway/client/agent':
    'In agents. [Agents](../docs/agents.md) and [an agent with a model](../docs/agent-with-a-model.md) show how it is used.',
  '@agent-gateway/client/opentelemetry':
    'In servers that make spans. [The client library](../docs/client.md#with-opentelemetry) shows how it is used.',
  '@agent-gateway/react':
    'In pages with React. [Its README](react/README.md) shows how it is used.',
  '@agent-gateway/ai-sdk':
    'In pages with the AI SDK. [Its README](ai-sdk/README.md) shows how it is used.',
  '@agent-gateway/ag-ui':
    'In back ends for clients of AG-UI. [Its README](ag-ui/README.md) shows how it is used.',
};

const TAGS: Readonly<Record<string, string>> = { returns: 'Returns', throws: 'Throws' };

const INTRODUCTION = `<!-- Written by \`npm run reference\` from the comments of the sources: change those. -->

# Every name of the libraries

This page is for programmers who look up a name of [the client library](../docs/client.md), the hooks or the transport. An editor
shows the same text. A signature that is long has no types here.

The command line and the MCP server are programs and export nothing: see [the command line](../docs/command-line.md) and
[the tools](mcp/README.md).`;

/** The text of `packages/REFERENCE.md`. Throws an Error for an entry that no guide shows. */
export function referencePage({ checker, entries }: PublicNames): string {
  const places = new Map<ts.Symbol, string>();
  const sections = entries.map((entry) => section(checker, entry, places));
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`;
}

function section(checker: ts.TypeChecker, entry: Entry, places: Map<ts.Symbol, string>): string {
  const guide = GUIDES[entry.name];
  if (guide === undefined) throw new Error(`${entry.name} has no guide in reference-page.ts`);
  const rows: [string, string][] = [];
  const parts: string[] = [];
  for (const one of entry.names) {
    const known = places.get(one.symbol);
    places.set(one.symbol, known ?? entry.name);
    const members = membersOf(checker, one);
    if (known !== undefined) rows.push([one.name, `The same as in \`${known}\`.`]);
    else if (members.length > 0) parts.push(memberPart(checker, one, members));
    else
      rows.push([signatureOf(one.name, declarationOf(one.symbol)), commentOf(checker, one.symbol)]);
  }
  const names = rows.length > 0 ? [table('Name', rows)] : [];
  return [`## \`${entry.name}\``, guide, ...names, ...parts].join('\n\n');
}

function memberPart(
  checker: ts.TypeChecker,
  one: PublicName,
  members: readonly ts.Symbol[],
): string {
  const heritage = heritageOf(declarationOf(one.symbol));
  const more = heritage && `Extends \`${heritage}\`.`;
  const rows = members.map((member): [string, string] => [
    signatureOf(isConstructor(member) ? one.name : member.name, declarationOf(member)),
    commentOf(checker, member),
  ]);
  const explained = rows.filter(([, comment]) => comment !== '');
  // Their name says all, such as the text of a word.
  const others = rows.filter(([, comment]) => comment === '').map(([member]) => `\`${member}\``);
  const parts = [
    `### \`${one.name}\``,
    [commentOf(checker, one.symbol), more].filter(Boolean).join(' '),
    explained.length > 0 && table('Member', explained),
    others.length > 0 && `${explained.length > 0 ? 'Also' : 'It has'} ${others.join(', ')}.`,
  ];
  return parts.filter(Boolean).join('\n\n');
}

/** The documented constructor of a class that programs make, and every public member of a class or an interface. */
function membersOf(checker: ts.TypeChecker, { symbol, isTypeOnly }: PublicName): ts.Symbol[] {
  const isHolder = symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface);
  const members = isHolder ? [...(symbol.members?.values() ?? [])] : [];
  const constructorFirst = members.toSorted(
    (a, b) => Number(isConstructor(b)) - Number(isConstructor(a)),
  );
  return constructorFirst.filter((member) => {
    // The comment of one that only the library calls says `Created by …`.
    const comment = isConstructor(member) ? commentOf(checker, member) : '';
    if (isConstructor(member)) return !isTypeOnly && /^(?!Created by )./.test(comment);
    const declaration = member.declarations?.[0];
    if (!declaration || ts.isTypeParameterDeclaration(declaration)) return false;
    const name = ts.getNameOfDeclaration(declaration);
    const flags = ts.getCombinedModifierFlags(declaration);
    return !(name && ts.isPrivateIdentifier(name)) && (flags & ts.ModifierFlags.Private) === 0;
  });
}

function isConstructor({ flags }: ts.Symbol): boolean {
  return (flags & ts.SymbolFlags.Constructor) !== 0;
}

function declarationOf({ name, declarations }: ts.Symbol): ts.Declaration {
  const [declaration] = declarations ?? [];
  if (!declaration) throw new Error(`${name} is declared nowhere`);
  return declaration;
}

/** The comment as one paragraph, with what it says of the result and of errors. */
function commentOf(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  // Only the tags of the source itself: those of a type that it extends are another package's.
  const tags = (symbol.declarations ?? [])
    .flatMap((declaration) => ts.getJSDocTags(declaration))
    .filter(({ tagName }) => tagName.text in TAGS)
    .map(({ tagName, comment }) => `${TAGS[tagName.text]} ${ts.getTextOfJSDocComment(comment)}`);
  const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  return [comment, ...tags].filter(Boolean).join(' ').replaceAll(/\s+/g, ' ');
}

function table(head: string, rows: readonly (readonly [string, string])[]): string {
  const lines = rows.map(([name, what]) => `| \`${cell(name)}\` | ${cell(what)} |`);
  return [`| ${head} | What |`, '| --- | --- |', ...lines].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
