import {
  columnOf,
  quotedName,
  refusalAt,
  SqlRefusal,
  sqlTokens,
  wordOf,
  type SqlToken,
} from './sql-tokens.ts';

/** An operand of a condition, or what several of them make. */
interface Part {
  kind: 'column' | 'string' | 'parameter' | 'number' | 'true' | 'false' | 'null' | 'condition';
  /** It consists of the gateway's own words, and of operands that are quoted by their kind. */
  text: string;
  /** Of a string or a parameter. Undefined if the request has no such parameter. */
  value?: string | undefined;
}

/** Deeper clauses could only exhaust the stack. */
const MAX_DEPTH = 100;
const MAX_BYTES = 8_192;
const COMPARISONS = ['=', '<>', '!=', '<', '<=', '>', '>='];
const TRUTHS = ['null', 'true', 'false', 'unknown'];

/**
 * Parses a clause that a client wrote with a read token, and prints it in the gateway's own words: columns compared with constants, joined by AND, OR and NOT. It
 * takes no operation that could fail on a column: PostgreSQL may apply it to rows of other tenants before it applies
 * the fence, and the error would reveal their values. Between a column and constants none can fail, for the types that
 * Electric compares (its `known_functions.ex` and `basic_types.ex`, August 2026), except LIKE and ILIKE on a column with a
 * nondeterministic collation. `params` are the values of `$n`. Each AND, OR and NOT is in parentheses: Electric prints a
 * clause again before it asks PostgreSQL, and loses parentheses in other places (libpg_query's deparser). Throws `SqlRefusal`.
 */
export function ownClause(sql: string, params: ReadonlyMap<string, string>): string {
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

  whole(): string {
    const text = this.#condition(this.#either());
    if (this.#token) throw this.#refusal();
    return text;
  }

  /** Words bind like in PostgreSQL: OR, then AND, then NOT, then comparisons. */
  #either(): Part {
    return this.#joined('or', () => this.#joined('and', () => this.#negated()));
  }

  #joined(word: 'and' | 'or', next: () => Part): Part {
    const first = next();
    if (!this.#takes(word)) return first;
    const conditions = [this.#condition(first)];
    do conditions.push(this.#condition(next()));
    while (this.#takes(word));
    return condition(`(${conditions.join(` ${word.toUpperCase()} `)})`);
  }

  #negated(): Part {
    if (!this.#takes('not')) return this.#test();
    return this.#deeper(() => condition(`(NOT ${this.#condition(this.#negated())})`));
  }

  /** A comparison, or what stands alone: a column, a constant, a group in parentheses. */
  #test(): Part {
    const left = this.#primary();
    if (left.kind === 'condition') return left;
    const symbol = COMPARISONS.find((comparison) => this.#takes(comparison));
    if (symbol) return condition(left.text + this.#comparison(left, symbol));
    const predicate = left.kind === 'column' ? this.#predicate() : '';
    return predicate === '' ? left : condition(left.text + predicate);
  }

  #comparison(left: Part, symbol: string): string {
    const isColumn = left.kind === 'column';
    if (isColumn && symbol === '=' && this.#takes('any')) {
      this.#expect('(');
      const array = this.#constant();
      if (array.kind !== 'parameter') throw this.#refusal();
      this.#expect(')');
      return ` = ANY(${array.text})`;
    }
    return ` ${symbol} ${(isColumn ? this.#constant() : this.#operand()).text}`;
  }

  /** What may follow a column beside a comparison. Empty if nothing does. */
  #predicate(): string {
    if (this.#takes('is')) return this.#is();
    const not = this.#takes('not') ? ' NOT' : '';
    if (this.#takes('in')) return `${not} IN (${this.#list()})`;
    if (this.#takes('between')) {
      const low = this.#constant();
      this.#expect('and');
      return `${not} BETWEEN ${low.text} AND ${this.#constant().text}`;
    }
    for (const like of ['like', 'ilike']) {
      if (this.#takes(like)) return `${not} ${like.toUpperCase()} ${this.#pattern()}`;
    }
    if (not) throw this.#refusal();
    return '';
  }

  #is(): string {
    const is = this.#takes('not') ? ' IS NOT' : ' IS';
    const truth = TRUTHS.find((word) => this.#takes(word));
    if (truth) return `${is} ${truth.toUpperCase()}`;
    this.#expect('distinct');
    this.#expect('from');
    return `${is} DISTINCT FROM ${this.#constant().text}`;
  }

  #list(): string {
    this.#expect('(');
    const entries = [this.#constant().text];
    while (this.#takes(',')) entries.push(this.#constant().text);
    this.#expect(')');
    return entries.join(', ');
  }

  /** A pattern that ends with a backslash fails, depending on the value that it is compared with. */
  #pattern(): string {
    const at = this.#token?.at ?? 0;
    const pattern = this.#constant();
    const isText = pattern.kind === 'string' || pattern.kind === 'parameter';
    if (!isText || pattern.value === undefined) throw refusalAt(at);
    if (!pattern.value.includes('\\')) return pattern.text;
    throw new SqlRefusal(`holds a pattern with a backslash at character ${at}`);
  }

  #constant(): Part {
    const at = this.#token?.at ?? 0;
    const operand = this.#operand();
    if (operand.kind === 'column') throw refusalAt(at);
    return operand;
  }

  #operand(): Part {
    const operand = this.#primary();
    if (operand.kind === 'condition') throw this.#refusal();
    return operand;
  }

  #primary(): Part {
    if (this.#takes('(')) {
      return this.#deeper(() => {
        const part = this.#either();
        this.#expect(')');
        return part;
      });
    }
    const token = this.#token;
    const operand = token && this.#operandOf(token);
    if (!operand) throw this.#refusal();
    this.#next++;
    return operand;
  }

  #operandOf(token: SqlToken): Part | undefined {
    const { kind, text } = token;
    if (kind === 'number') return { kind, text };
    // Its quotes are doubled as they came.
    if (kind === 'string') return { kind, text, value: text.slice(1, -1).replaceAll("''", "'") };
    if (kind === 'parameter') return { kind, text, value: this.#params.get(text.slice(1)) };
    const word = wordOf(token);
    if (word === 'true' || word === 'false' || word === 'null') {
      return { kind: word, text: word.toUpperCase() };
    }
    const name = columnOf(token);
    return name === undefined ? undefined : { kind: 'column', text: quotedName(name) };
  }

  /** The text of what stands for a truth: of anything but a constant that is neither true nor false. */
  #condition({ kind, text }: Part): string {
    if (['string', 'parameter', 'number', 'null'].includes(kind)) throw this.#refusal();
    return text;
  }

  #deeper(parse: () => Part): Part {
    if (++this.#depth > MAX_DEPTH) throw new SqlRefusal('is nested more than 100 deep');
    const part = parse();
    this.#depth--;
    return part;
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

function condition(text: string): Part {
  return { kind: 'condition', text };
}
