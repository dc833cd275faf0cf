import type { Clause, Operand } from './clause.ts';
import { columnOf, refusalAt, SqlRefusal, sqlTokens, wordOf, type SqlToken } from './sql-tokens.ts';

/** Deeper clauses could only exhaust the stack. */
const MAX_DEPTH = 100;
const MAX_BYTES = 8_192;
const COMPARISONS = ['=', '<>', '!=', '<', '<=', '>', '>='];
const TRUTHS = ['null', 'true', 'false', 'unknown'];

/**
 * Parses a clause that a client wrote with a read token: columns compared with constants, joined by AND, OR and NOT. It
 * takes no operation that could fail on a column: PostgreSQL may apply it to rows of other tenants before it applies
 * the fence, and the error would reveal their values. Between a column and constants none can fail, for the types that
 * Electric compares (its `known_functions.ex` and `basic_types.ex`, August 2026), except LIKE and ILIKE on a column with a
 * nondeterministic collation. `params` are the values of `$n`. Throws `SqlRefusal`.
 */
export function parseClause(sql: string, params: ReadonlyMap<string, string>): Clause {
  if (Buffer.byteLength(sql) > MAX_BYTES) throw new SqlRefusal('is longer than 8 KiB');
  return new ClauseParser(sqlTokens(sql), params).whole();
}

class ClauseParser {
  readonly #tokens: readonly SqlToken[];
  readonly #params: ReadonlyMap<string, string>;
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly SqlToken[], params: ReadonlyMap<string, string>) {
    this.#tokens = tokens;
    this.#params = params;
  }

  whole(): Clause {
    const clause = this.#condition(this.#either());
    if (this.#token) throw this.#refusal();
    return clause;
  }

  /** Words bind like in PostgreSQL: OR, then AND, then NOT, then comparisons. */
  #either(): Clause {
    return this.#joined('or', () => this.#joined('and', () => this.#negated()));
  }

  #joined(kind: 'and' | 'or', next: () => Clause): Clause {
    const first = next();
    if (!this.#takes(kind)) return first;
    const clauses = [this.#condition(first)];
    do clauses.push(this.#condition(next()));
    while (this.#takes(kind));
    return { kind, clauses };
  }

  #negated(): Clause {
    if (!this.#takes('not')) return this.#test();
    return this.#deeper(() => ({ kind: 'not', clause: this.#condition(this.#negated()) }));
  }

  /** A comparison, or what stands alone: a column, a constant, a group in parentheses. */
  #test(): Clause {
    const left = this.#primary();
    if (!isOperand(left)) return left;
    const symbol = COMPARISONS.find((comparison) => this.#takes(comparison));
    if (symbol) return { kind: 'test', parts: [left, ...this.#comparison(left, symbol)] };
    const parts = left.kind === 'column' ? this.#predicate() : [];
    return parts.length === 0 ? left : { kind: 'test', parts: [left, ...parts] };
  }

  #comparison(left: Operand, symbol: string): (Operand | string)[] {
    const isColumn = left.kind === 'column';
    if (isColumn && symbol === '=' && this.#takes('any')) {
      this.#expect('(');
      const array = this.#constant();
      if (array.kind !== 'parameter') throw this.#refusal();
      this.#expect(')');
      return [' = ANY(', array, ')'];
    }
    return [` ${symbol} `, isColumn ? this.#constant() : this.#operand()];
  }

  /** What may follow a column beside a comparison. Empty if nothing does. */
  #predicate(): (Operand | string)[] {
    if (this.#takes('is')) return this.#is();
    const not = this.#takes('not') ? ' NOT' : '';
    if (this.#takes('in')) return this.#in(not);
    if (this.#takes('between')) {
      const low = this.#constant();
      this.#expect('and');
      return [`${not} BETWEEN `, low, ' AND ', this.#constant()];
    }
    for (const like of ['like', 'ilike']) {
      if (this.#takes(like)) return [`${not} ${like.toUpperCase()} `, this.#pattern()];
    }
    if (not) throw this.#refusal();
    return [];
  }

  #is(): (Operand | string)[] {
    const is = this.#takes('not') ? ' IS NOT' : ' IS';
    const truth = TRUTHS.find((word) => this.#takes(word));
    if (truth) return [`${is} ${truth.toUpperCase()}`];
    this.#expect('distinct');
    this.#expect('from');
    return [`${is} DISTINCT FROM `, this.#constant()];
  }

  #in(not: string): (Operand | string)[] {
    this.#expect('(');
    const parts = [`${not} IN (`, this.#constant()];
    while (this.#takes(',')) parts.push(', ', this.#constant());
    this.#expect(')');
    return [...parts, ')'];
  }

  /** A pattern that ends with a backslash fails, depending on the value that it is compared with. */
  #pattern(): Operand {
    const at = this.#token?.at ?? 0;
    const pattern = this.#constant();
    const isText = pattern.kind === 'string' || pattern.kind === 'parameter';
    if (!isText || pattern.value === undefined) throw refusalAt(at);
    if (!pattern.value.includes('\\')) return pattern;
    throw new SqlRefusal(`holds a pattern with a backslash at character ${at}`);
  }

  #constant(): Operand {
    const at = this.#token?.at ?? 0;
    const operand = this.#operand();
    if (operand.kind === 'column') throw refusalAt(at);
    return operand;
  }

  #operand(): Operand {
    const operand = this.#primary();
    if (!isOperand(operand)) throw this.#refusal();
    return operand;
  }

  #primary(): Clause {
    if (!this.#takes('(')) return this.#atom();
    return this.#deeper(() => {
      const clause = this.#either();
      this.#expect(')');
      return clause;
    });
  }

  #atom(): Operand {
    const token = this.#token;
    const operand = token && this.#operandOf(token);
    if (!operand) throw this.#refusal();
    this.#next++;
    return operand;
  }

  #operandOf(token: SqlToken): Operand | undefined {
    const { kind, text } = token;
    if (kind === 'number') return { kind, text };
    if (kind === 'string') return { kind, value: text.slice(1, -1).replaceAll("''", "'") };
    if (kind === 'parameter') {
      const number = text.slice(1);
      return { kind, number, value: this.#params.get(number) };
    }
    const word = wordOf(token);
    if (word === 'true' || word === 'false' || word === 'null') return { kind: word };
    const name = columnOf(token);
    return name === undefined ? undefined : { kind: 'column', name };
  }

  /** A clause that stands for a truth: anything but a constant that is neither true nor false. */
  #condition(clause: Clause): Clause {
    if (['string', 'parameter', 'number', 'null'].includes(clause.kind)) throw this.#refusal();
    return clause;
  }

  #deeper(parse: () => Clause): Clause {
    if (++this.#depth > MAX_DEPTH) throw new SqlRefusal('is nested more than 100 deep');
    const clause = parse();
    this.#depth--;
    return clause;
  }

  /** Undefined at the end. */
  get #token(): SqlToken | undefined {
    return this.#tokens[this.#next];
  }

  /** Moves past a word or symbol if it comes next. */
  #takes(part: string): boolean {
    const token = this.#token;
    const isNext = token?.kind === 'symbol' ? token.text === part : wordOf(token) === part;
    if (isNext) this.#next++;
    return isNext;
  }

  #expect(part: string): void {
    if (!this.#takes(part)) throw this.#refusal();
  }

  #refusal(): SqlRefusal {
    const token = this.#token;
    return token ? refusalAt(token.at) : new SqlRefusal('ends too early');
  }
}

function isOperand(clause: Clause): clause is Operand {
  return !['test', 'not', 'and', 'or'].includes(clause.kind);
}
