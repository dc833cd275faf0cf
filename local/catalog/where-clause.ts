import { TokenReader } from './token-reader.ts';
import { tokenize, WhereError } from './where-tokens.ts';
import {
  both,
  compared,
  COMPARISON_SYMBOLS,
  either,
  joined,
  like,
  negated,
  same,
} from './where-operators.ts';
import { as, cast, condition, constant, truthOf, typeNamed } from './where-values.ts';
import type { Condition, Expression, ValueType } from './where-values.ts';

export interface WhereContext {
  readonly columns: readonly string[];
  /** The types of columns that are not text. */
  readonly types?: Readonly<Record<string, ValueType>>;
  /** The values of `$1`, `$2`, …, by their number. */
  readonly params: Readonly<Record<string, string>>;
}

/** The deepest nesting. Deeper clauses could only exhaust the stack. */
const MAX_DEPTH = 100;
const KEYWORDS = new Set(
  'and or not in is null true false like ilike between any distinct from array'.split(' '),
);

/**
 * Reads the part of SQL that the catalog needs. Conditions are comparisons, `[NOT] IN`, `[NOT] BETWEEN`, `[NOT] LIKE`
 * and `ILIKE`, `= ANY`, `IS [NOT] NULL`, `TRUE`, `FALSE` and `DISTINCT FROM`. It supports AND, OR, NOT, `||`, casts,
 * `lower`, `upper` and parentheses. Operands are columns, strings, numbers, `$n`, TRUE, FALSE and NULL.
 * @throws WhereError on anything else
 */
export function parseWhere(clause: string, context: WhereContext): Condition {
  return new WhereParser(clause, context).parse();
}

class WhereParser {
  readonly #tokens: TokenReader;
  readonly #context: WhereContext;
  #depth = 0;

  constructor(clause: string, context: WhereContext) {
    this.#tokens = new TokenReader(tokenize(clause));
    this.#context = context;
  }

  parse(): Condition {
    const expression = this.#or();
    if (this.#tokens.peek().kind !== 'end') throw this.#tokens.unexpected();
    return truthOf(expression);
  }

  #or(): Expression {
    const terms = [this.#and()];
    while (this.#tokens.takeKeyword('or')) terms.push(this.#and());
    return terms.length === 1
      ? terms[0]!
      : condition(terms[0]!.position, either(terms.map(truthOf)));
  }

  #and(): Expression {
    const terms = [this.#not()];
    while (this.#tokens.takeKeyword('and')) terms.push(this.#not());
    return terms.length === 1 ? terms[0]! : condition(terms[0]!.position, both(terms.map(truthOf)));
  }

  #not(): Expression {
    const { position } = this.#tokens.peek();
    if (++this.#depth > MAX_DEPTH) throw new WhereError(position, 'nested too deep');
    const expression = this.#tokens.takeKeyword('not')
      ? condition(position, negated(truthOf(this.#not())))
      : this.#is();
    this.#depth -= 1;
    return expression;
  }

  #is(): Expression {
    let left = this.#comparison();
    while (this.#tokens.takeKeyword('is')) {
      const isInverted = this.#tokens.takeKeyword('not');
      const judge = this.#isWhat(left);
      left = condition(left.position, isInverted ? negated(judge) : judge);
    }
    return left;
  }

  #isWhat(left: Expression): Condition {
    if (this.#tokens.takeKeyword('null')) return (row) => left.at(row) === null;
    if (this.#tokens.takeKeyword('distinct')) {
      this.#tokens.expectKeyword('from');
      return negated(same(left, this.#concatenation()));
    }
    const wanted = this.#tokens.takeKeyword('true');
    if (!wanted) this.#tokens.expectKeyword('false');
    const judge = truthOf(left);
    return (row) => judge(row) === wanted;
  }

  #comparison(): Expression {
    const left = this.#concatenation();
    const symbol = COMPARISON_SYMBOLS.find((known) => this.#tokens.takeSymbol(known));
    if (symbol !== undefined) return condition(left.position, this.#compare(symbol, left));
    const isInverted = this.#tokens.takeKeyword('not');
    const predicate = this.#predicate(left);
    if (predicate === undefined) {
      if (isInverted) throw this.#tokens.unexpected();
      return left;
    }
    return condition(left.position, isInverted ? negated(predicate) : predicate);
  }

  #compare(symbol: string, left: Expression): Condition {
    if (!this.#tokens.takeKeyword('any')) return compared(symbol, left, this.#concatenation());
    this.#tokens.expectSymbol('(');
    const choices = this.#array();
    this.#tokens.expectSymbol(')');
    return either(choices.map((choice) => compared(symbol, left, choice)));
  }

  #predicate(left: Expression): Condition | undefined {
    if (this.#tokens.takeKeyword('in')) {
      this.#tokens.expectSymbol('(');
      return either(this.#list(')').map((choice) => compared('=', left, choice)));
    }
    if (this.#tokens.takeKeyword('between')) {
      const low = this.#concatenation();
      this.#tokens.expectKeyword('and');
      return both([compared('>=', left, low), compared('<=', left, this.#concatenation())]);
    }
    const ignoresCase = this.#tokens.takeKeyword('ilike');
    if (!ignoresCase && !this.#tokens.takeKeyword('like')) return undefined;
    return truthOf(like(left, this.#concatenation(), ignoresCase));
  }

  /** `ARRAY['a', 'b']`, or `{a,b}` as a string or a parameter, cast or not. */
  #array(): Expression[] {
    if (this.#tokens.takeKeyword('array')) {
      this.#tokens.expectSymbol('[');
      return this.#list(']');
    }
    const { at, position, type } = this.#primary();
    const text = type === 'unknown' ? at({}) : undefined;
    const inside = /^\{([^{}"\\]*)\}$/.exec(String(text))?.[1];
    if (inside === undefined) throw new WhereError(position, 'ANY takes an array: {a,b}');
    if (this.#tokens.takeSymbol('::')) this.#arrayType();
    const items = inside.trim() === '' ? [] : inside.split(',');
    return items.map((item) => constant('unknown', position, item.trim()));
  }

  #arrayType(): void {
    if (typeNamed(this.#tokens.peek().text) === undefined) throw this.#tokens.unexpected();
    this.#tokens.next();
    this.#tokens.expectSymbol('[');
    this.#tokens.expectSymbol(']');
  }

  #list(end: string): Expression[] {
    const operands = [this.#concatenation()];
    while (this.#tokens.takeSymbol(',')) operands.push(this.#concatenation());
    this.#tokens.expectSymbol(end);
    return operands;
  }

  #concatenation(): Expression {
    let left = this.#castable();
    while (this.#tokens.takeSymbol('||')) left = joined(left, this.#castable());
    return left;
  }

  #castable(): Expression {
    let expression = this.#primary();
    while (this.#tokens.takeSymbol('::')) {
      const { kind, text, position } = this.#tokens.peek();
      // Only literals of dates are read, because a cast to a date would have to cut the time off.
      const type = kind === 'word' && text !== 'date' ? typeNamed(text) : undefined;
      if (type === undefined) throw new WhereError(position, `unsupported type ${text}`);
      this.#tokens.next();
      expression = cast(type, expression);
    }
    return expression;
  }

  #primary(): Expression {
    if (this.#tokens.takeSymbol('(')) {
      const expression = this.#or();
      this.#tokens.expectSymbol(')');
      return expression;
    }
    const { kind, text, position } = this.#tokens.peek();
    if (this.#tokens.takeKeyword('null')) return constant('unknown', position, null);
    for (const value of [true, false]) {
      if (this.#tokens.takeKeyword(String(value))) return constant('boolean', position, value);
    }
    if (kind === 'symbol' || kind === 'end') throw this.#tokens.unexpected();
    if (kind === 'word' && KEYWORDS.has(text)) throw this.#tokens.unexpected();
    this.#tokens.next();
    if (kind === 'string') return constant('unknown', position, text);
    if (kind === 'number') return constant('number', position, Number(text));
    if (kind === 'parameter') return this.#parameter(text, position);
    return kind === 'word' ? this.#word(text, position) : this.#column(text, position);
  }

  /** A column, `lower(…)`, or a typed literal such as `date '2026-01-01'`. */
  #word(word: string, position: number): Expression {
    const next = this.#tokens.peek();
    const type = typeNamed(word);
    if (type !== undefined && next.kind === 'string') {
      this.#tokens.next();
      const literal = word === 'date' ? next.text.trim().slice(0, 10) : next.text;
      return cast(type, constant('unknown', position, literal));
    }
    if (word !== 'lower' && word !== 'upper') return this.#column(word, position);
    if (!this.#tokens.takeSymbol('(')) return this.#column(word, position);
    const { at } = as('text', this.#or(), word);
    this.#tokens.expectSymbol(')');
    const change = word === 'lower' ? 'toLowerCase' : 'toUpperCase';
    return {
      type: 'text',
      position,
      at: (row) => {
        const value = at(row);
        return value === null ? null : String(value)[change]();
      },
    };
  }

  #parameter(number: string, position: number): Expression {
    const value = this.#context.params[number];
    if (value === undefined)
      throw new WhereError(position, `parameter $${number} was not provided`);
    return constant('unknown', position, value);
  }

  #column(name: string, position: number): Expression {
    const { columns, types = {} } = this.#context;
    if (!columns.includes(name)) throw new WhereError(position, `unknown reference ${name}`);
    return { type: types[name] ?? 'text', position, at: (row) => row[name] ?? null };
  }
}
