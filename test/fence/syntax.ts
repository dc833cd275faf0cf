import * as parser17 from '@libpg-query/parser';
import * as parser18 from 'libpg-query';

/** A node of PostgreSQL's syntax tree. */
export type SqlNode = { readonly [member: string]: unknown };

export interface SqlParser {
  version: string;
  parse: (sql: string) => SqlNode;
}

/** PostgreSQL's parser, in the version that Electric uses and in the newest one. */
export const PARSERS: readonly SqlParser[] = [
  { version: '17', parse: (sql) => parser17.parseSync(sql) as unknown as SqlNode },
  { version: '18', parse: (sql) => parser18.parseSync(sql) as unknown as SqlNode },
];

export async function loadParsers(): Promise<void> {
  await Promise.all([parser17.loadModule(), parser18.loadModule()]);
}

/** The syntax tree of a text that is a single SELECT, without positions in the text. */
export function selectOf(sql: string, { parse }: SqlParser): SqlNode | undefined {
  let tree: SqlNode;
  try {
    tree = parse(sql);
  } catch {
    return undefined;
  }
  const [first, ...rest] = tree.stmts as SqlNode[];
  const select = (first?.stmt as SqlNode | undefined)?.SelectStmt;
  if (rest.length > 0 || !select) throw new Error(`more or other than one SELECT: ${sql}`);
  return withoutPlaces(select) as SqlNode;
}

function withoutPlaces(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPlaces);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !PLACES.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, withoutPlaces(member)]));
}

const PLACES = new Set([
  'location',
  'list_start',
  'list_end',
  'rexpr_list_start',
  'rexpr_list_end',
]);

/** Every node of a tree with its kind. */
export function* nodesOf(value: unknown): Generator<[kind: string, node: unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [name, member];
    yield* nodesOf(member);
  }
}

/** Whether an operator stands beside one of these columns. */
export function comparesAny(sql: string, columns: readonly string[]): boolean {
  const expressions = [...nodesOf(parser17.parseSync(sql))].filter(([kind]) => kind === 'A_Expr');
  return [...nodesOf(expressions.map(([, node]) => node))].some(
    ([kind, node]) =>
      kind === 'ColumnRef' && columns.includes(nameOf((node as { fields: unknown }).fields)),
  );
}

/** The text of a node that is a `String`, or of a list of them with dots between. */
export function nameOf(nodes: unknown): string {
  return (nodes as { String?: { sval: string } }[])
    .map(({ String: text }) => text?.sval ?? '*')
    .join('.');
}

/**
 * SQL that is regenerated from its tree by the deparser that Electric uses (libpg_query's). The package's way
 * into it loses every `true`, so these are written as casts first.
 */
export function rewritten(sql: string): string {
  const tree = parser17.parseSync(sql);
  return parser17.deparseSync(withTruths(tree) as typeof tree);
}

function withTruths(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTruths);
  if (typeof value !== 'object' || value === null) return value;
  const truth = (value as { A_Const?: { boolval?: { boolval?: boolean } } }).A_Const?.boolval;
  if (truth) return truthAsCast(truth.boolval === true);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withTruths(member)]),
  );
}

function truthAsCast(truth: boolean): SqlNode {
  return {
    TypeCast: {
      arg: { A_Const: { sval: { sval: truth ? 't' : 'f' } } },
      typeName: { names: [{ String: { sval: 'bool' } }], typemod: -1 },
    },
  };
}
