import type { Row } from './tables.ts';
import { tokenize, WhereError } from './where-tokens.ts';
import type { Token } from './where-tokens.ts';

/** SQL's three values: `null` is "unknown". */
export type Truth = boolean | null;
export type Condition = (row: Row) => Truth;
type Operand = (row: Row) => string | null;

export interface WhereContext {
  readonly columns: readonly string[];
  /** The values of `$1`, `$2`, …, by their number. */
  readonly params: Readonly<Record<string, string>>;
}

/** Deeper clauses would only serve to exhaust the stack. */
const MAX_DEPTH = 100;
const KEYWORDS = new Set(['and', 'or', 'not', 'in', 'is', 'null']);

/**
 * Reads the part of SQL that the catalog needs: `=`, `<>` (also written `!=`), `[NOT] IN`,
 * `IS [NOT] NULL`, AND, OR, NOT and parentheses around conditions; operands are columns, strings,
 * `$n` and NULL.
 * @throws WhereError on anything else
 */
export function parseWhere(clause: string, context: WhereContext): Condition {
  return new WhereParser(tokenize(clause), context).parse();
}

class WhereParser {
  readonly #tokens: readonly Token[];
  readonly #context: WhereContext;
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], context: WhereContext) {
    this.#tokens = tokens;
    this.#context = context;
  }

  parse(): Condition {
    const condition = this.#or();
    if (this.#peek().kind !== 'end') throw this.#unexpected();
    return condition;
  }

  #or(): Condition {
    const terms = [this.#and()];
    while (this.#takeKeyword('or')) terms.push(this.#and());
    return terms.length === 1 ? terms[0]! : (row) => anyTrue(terms.map((term) => term(row)));
  }

  #and(): Condition {
    const terms = [this.#not()];
    while (this.#takeKeyword('and')) terms.push(this.#not());
    return terms.length === 1
      ? terms[0]!
      : (row) => negate(anyTrue(terms.map((term) => negate(term(row)))));
  }

  #not(): Condition {
    if (++this.#depth > MAX_DEPTH) throw new WhereError(this.#peek().position, 'nested too deep');
    const condition = this.#takeKeyword('not') ? negated(this.#not()) : this.#primary();
    this.#depth -= 1;
    return condition;
  }

  #primary(): Condition {
    if (!this.#takeSymbol('(')) return this.#predicate();
    const condition = this.#or();
    this.#expectSymbol(')');
    return condition;
  }

  #predicate(): Condition {
    const left = this.#operand();
    if (this.#takeSymbol('=')) return equal(left, this.#operand());
    if (this.#takeSymbol('<>') || this.#takeSymbol('!=')) {
      return negated(equal(left, this.#operand()));
    }
    if (this.#takeKeyword('is')) {
      const wanted = !this.#takeKeyword('not');
      this.#expectKeyword('null');
      return (row) => (left(row) === null) === wanted;
    }
    const inverted = this.#takeKeyword('not');
    this.#expectKeyword('in');
    const choices = this.#list().map((choice) => equal(left, choice));
    const among: Condition = (row) => anyTrue(choices.map((choice) => choice(row)));
    return inverted ? negated(among) : among;
  }

  #list(): Operand[] {
    this.#expectSymbol('(');
    const operands = [this.#operand()];
    while (this.#takeSymbol(',')) operands.push(this.#operand());
    this.#expectSymbol(')');
    return operands;
  }

  #operand(): Operand {
    const { kind, text, position } = this.#peek();
    if (this.#takeKeyword('null')) return () => null;
    if (kind === 'word' && KEYWORDS.has(text)) throw this.#unexpected();
    if (kind === 'symbol' || kind === 'end') throw this.#unexpected();
    this.#next += 1;
    if (kind === 'string') return () => text;
    if (kind === 'parameter') {
      const value = this.#context.params[text];
      if (value === undefined)
        throw new WhereError(position, `parameter $${text} was not provided`);
      return () => value;
    }
    if (!this.#context.columns.includes(text)) {
      throw new WhereError(position, `unknown reference ${text}`);
    }
    return (row) => row[text] ?? null;
  }

  #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #takeKeyword(keyword: string): boolean {
    return this.#take('word', keyword);
  }

  #takeSymbol(symbol: string): boolean {
    return this.#take('symbol', symbol);
  }

  #take(kind: Token['kind'], text: string): boolean {
    const token = this.#peek();
    if (token.kind !== kind || token.text !== text) return false;
    this.#next += 1;
    return true;
  }

  #expectKeyword(keyword: string): void {
    if (!this.#takeKeyword(keyword)) throw this.#unexpected();
  }

  #expectSymbol(symbol: string): void {
    if (!this.#takeSymbol(symbol)) throw this.#unexpected();
  }

  #unexpected(): WhereError {
    const { kind, text, position } = this.#peek();
    return new WhereError(
      position,
      kind === 'end' ? 'unexpected end' : `unexpected ${JSON.stringify(text)}`,
    );
  }
}

/** OR over SQL's three values; AND is its mirror by De Morgan, IN an OR of equalities. */
function anyTrue(values: readonly Truth[]): Truth {
  if (values.includes(true)) return true;
  return values.includes(null) ? null : false;
}

function negate(value: Truth): Truth {
  return value === null ? null : !value;
}

function negated(condition: Condition): Condition {
  return (row) => negate(condition(row));
}

function equal(left: Operand, right: Operand): Condition {
  return (row) => {
    const [a, b] = [left(row), right(row)];
    return a === null || b === null ? null : a === b;
  };
}
