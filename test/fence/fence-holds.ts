import { nameOf, nodesOf, selectOf, type SqlNode, type SqlParser } from './syntax.ts';
import { TENANT } from './world.ts';

const FENCE = `"tenant" = '${TENANT}'`;

/** The parts of a SELECT that are allowed besides its condition. */
const BARE = new Set(['targetList', 'limitOption', 'op']);

/**
 * What is wrong with a clause that goes to the sync engine, for one that was asked for; undefined where it is exactly
 * the fence AND a clause that means the same as what was asked for and compares columns with constants only.
 */
export function fenceProblem(
  fenced: string,
  asked: string | undefined,
  parser: SqlParser,
): string | undefined {
  const clause = conditionOf(fenced, parser);
  const fence = conditionOf(FENCE, parser);
  if (clause === undefined) return 'is no SQL';
  if (asked === undefined) return isSame(clause, fence) ? undefined : 'is not the fence alone';
  const { boolop, args } = (clause.BoolExpr ?? {}) as { boolop?: string; args?: SqlNode[] };
  const [first, second] = args ?? [];
  if (boolop !== 'AND_EXPR' || args?.length !== 2) return 'is no AND of two';
  if (!isSame(first, fence)) return 'does not begin with the fence';
  if (!isSame(second, conditionOf(`(${asked})`, parser))) return 'means something else';
  return ownProblem(second);
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
  if (!select) return 'is no SQL';
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

/** Every kind of node that a clause may consist of. No call, cast, array, subscript or subquery is among them. */
const KNOWN_KINDS = new Set(
  'A_Const A_Expr BoolExpr BooleanTest ColumnRef Integer List NullTest ParamRef String'.split(' '),
);
const KNOWN_OPERATORS = new Set('= <> < > <= >= ~~ ~~* !~~ !~~* BETWEEN NOT BETWEEN'.split(' '));

/** The problem with a clause that the client wrote. */
function ownProblem(clause: SqlNode | undefined): string | undefined {
  for (const [kind, value] of nodesOf(clause)) {
    const node = value as SqlNode;
    if (!KNOWN_KINDS.has(kind) && /^[A-Z]/.test(kind)) return `holds a ${kind}`;
    if (kind === 'ColumnRef' && !isPlainColumn({ ColumnRef: node })) return 'holds a longer name';
    if (kind === 'A_Expr') {
      const isKnown = nameOf(node.name)
        .split(' ')
        .every((word) => KNOWN_OPERATORS.has(word));
      if (!isKnown) return `has the operator ${nameOf(node.name)}`;
      if (columnsIn(node) > 1) return 'compares two columns';
      if (columnsIn(node) !== [node.lexpr, node.rexpr].filter(isColumn).length) {
        return 'compares more than a column';
      }
    }
    if (/^(?:Null|Boolean)Test$/.test(kind) && !isColumn(node.arg)) return 'tests no column';
  }
  return undefined;
}

function columnsIn(node: unknown): number {
  return [...nodesOf({ node })].filter(([kind]) => kind === 'ColumnRef').length;
}

function isColumn(node: unknown): boolean {
  return isPlainColumn(node as SqlNode | undefined);
}

function isSame(one: unknown, other: unknown): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
