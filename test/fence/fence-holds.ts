import { nameOf, nodesOf, selectOf, type SqlNode, type SqlParser } from './syntax.ts';
import { TENANT } from './world.ts';

const FENCE = `"tenant" = '${TENANT}'`;

/** The parts of a SELECT that are allowed besides its condition. */
const BARE = new Set(['targetList', 'limitOption', 'op']);

/** Functions that depend only on their arguments, from PostgreSQL's manual and not from the gateway's own list. */
const PURE = new Set(
  `lower upper length concat coalesce greatest least like ilike timezone array_append array_cat
   array_ndims array_prepend justify_days justify_hours justify_interval bool date float4 float8 int2
   int4 int8 numeric text timestamptz uuid like_escape`.split(/\s+/),
);
const PURE_TYPES = new Set(
  `bool boolean bytea date float4 float8 int2 int4 int8 interval json jsonb numeric text time
   timestamp timestamptz timetz uuid varchar`.split(/\s+/),
);

/** The pure functions, types and operators that cannot fail for any value, also from PostgreSQL's manual. */
const INFALLIBLE = new Set('lower upper length concat array_ndims text'.split(' '));
const INFALLIBLE_TYPES = new Set(['text', 'varchar']);
const INFALLIBLE_OPERATORS = new Set('= <> < > <= >= @> <@ && ~~ ~~* !~~ !~~* BETWEEN'.split(' '));

/**
 * What is wrong with a clause that goes to the sync engine, for one that was asked for; undefined where
 * it is exactly the fence AND that clause, or no SQL at all. A pinned clause may hold anything.
 */
export function fenceProblem(
  fenced: string,
  asked: string | undefined,
  parser: SqlParser,
  isPinned = false,
): string | undefined {
  const clause = conditionOf(fenced, parser);
  if (clause === undefined) return undefined;
  const fence = conditionOf(FENCE, parser);
  if (asked === undefined) return isSame(clause, fence) ? undefined : 'is not the fence alone';
  const { boolop, args } = (clause.BoolExpr ?? {}) as { boolop?: string; args?: SqlNode[] };
  const [first, second] = args ?? [];
  if (boolop !== 'AND_EXPR' || args?.length !== 2) return 'is no AND of two';
  if (!isSame(first, fence)) return 'does not begin with the fence';
  if (!isSame(second, conditionOf(`(${asked})`, parser))) return 'does not end with the clause';
  return isPinned ? undefined : ownProblem(second);
}

/**
 * What is wrong with a clause as Electric regenerates it, which may be no SQL any more. Without their
 * parentheses others may have joined the AND; that widens nothing.
 */
export function rewrittenProblem(anew: string, parser: SqlParser): string | undefined {
  const clause = conditionOf(anew, parser);
  if (clause === undefined) return undefined;
  const { boolop, args } = (clause.BoolExpr ?? {}) as { boolop?: string; args?: SqlNode[] };
  const isHeld = boolop === 'AND_EXPR' && isSame(args?.[0], conditionOf(FENCE, parser));
  return isHeld ? undefined : `is not held by its fence: ${anew}`;
}

/** The problem with an order, in the form in which Electric puts it into SQL. */
export function orderProblem(orderBy: string, parser: SqlParser): string | undefined {
  const select = selectOf(`SELECT 1 WHERE a ORDER BY ${orderBy} LIMIT 7 OFFSET 8`, parser);
  if (!select) return undefined;
  const expected = selectOf('SELECT 1 WHERE a ORDER BY b LIMIT 7 OFFSET 8', parser);
  const { sortClause, ...rest } = select;
  const { sortClause: _, ...restExpected } = expected ?? {};
  if (!isSame(rest, restExpected)) return 'changes what stands around it';
  const isPlain = (sortClause as { SortBy: SqlNode }[]).every(
    ({ SortBy: { node, useOp } }) => useOp === undefined && isPlainColumn(node as SqlNode),
  );
  return isPlain ? undefined : 'orders by more than plain columns';
}

/** The condition of `SELECT 1 WHERE …` if there is nothing else, or undefined if the text is not SQL. */
function conditionOf(where: string, parser: SqlParser): SqlNode | undefined {
  const { whereClause, ...rest } = selectOf(`SELECT 1 WHERE ${where}`, parser) ?? {};
  const more = Object.keys(rest).filter((member) => !BARE.has(member));
  if (more.length > 0) throw new Error(`has ${more.join(', ')} behind it: ${where}`);
  return whereClause as SqlNode | undefined;
}

function isPlainColumn(node: SqlNode | undefined): boolean {
  const fields = (node?.ColumnRef as { fields: SqlNode[] } | undefined)?.fields;
  return fields?.length === 1 && fields[0]?.String !== undefined;
}

/** The problem with a clause that the client wrote. */
function ownProblem(clause: SqlNode | undefined): string | undefined {
  for (const [kind, node] of nodesOf(clause)) {
    const { names, funcname } = node as { names?: unknown; funcname?: unknown };
    if (!KNOWN_KINDS.has(kind) && /^[A-Z]/.test(kind)) return `holds a ${kind}`;
    if (kind === 'ColumnRef' && !isPlainColumn({ ColumnRef: node })) return 'holds a longer name';
    if (kind === 'FuncCall' && !PURE.has(unqualified(nameOf(funcname)))) return 'calls a function';
    const fallible = fallibleProblem(kind, node as SqlNode);
    if (fallible) return fallible;
    if (kind === 'typeName' && !PURE_TYPES.has(unqualified(nameOf(names)))) return 'casts oddly';
  }
  return undefined;
}

/**
 * The problem with a node that can fail for some values of a column. PostgreSQL may apply it to rows of other tenants, and
 * its error would reveal them.
 */
function fallibleProblem(kind: string, node: SqlNode): string | undefined {
  const { name, kind: form, rexpr, funcname, typeName, arg } = node;
  if (kind === 'A_Expr') {
    const operator = nameOf(name);
    const isKnown = INFALLIBLE_OPERATORS.has(operator) || /BETWEEN/.test(String(form));
    if (!isKnown && namesColumn(node)) return `applies ${operator} to a column`;
    if (operator.includes('~~') && namesColumn(rexpr)) return 'takes a pattern from a column';
  }
  if (kind === 'TypeCast' && namesColumn(arg)) {
    const { names, arrayBounds } = typeName as SqlNode;
    const isSafe = INFALLIBLE_TYPES.has(unqualified(nameOf(names))) && arrayBounds === undefined;
    if (!isSafe) return 'casts a column';
  }
  if (kind === 'FuncCall' && !INFALLIBLE.has(unqualified(nameOf(funcname))) && namesColumn(node)) {
    return 'calls a function that can fail with a column';
  }
  return kind === 'A_ArrayExpr' && namesColumn(node) ? 'makes an array of a column' : undefined;
}

function namesColumn(node: unknown): boolean {
  return [...nodesOf({ node })].some(([kind]) => kind === 'ColumnRef');
}

/** The allowed kinds of nodes: columns, constants, operators and pure calls. A SubLink, for example, is not allowed. */
const KNOWN_KINDS = new Set(
  `A_ArrayExpr A_Const A_Expr A_Indices A_Indirection BoolExpr BooleanTest CoalesceExpr ColumnRef
   FuncCall Integer List MinMaxExpr NullTest ParamRef String TypeCast`.split(/\s+/),
);

const unqualified = (name: string): string => name.replace(/^pg_catalog\./, '');

function isSame(one: unknown, other: unknown): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
