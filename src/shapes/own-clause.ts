import {
  COMPARISONS,
  FALLIBLE_FUNCTIONS,
  FALLIBLE_JOINTS,
  FALLIBLE_OPERATORS,
  FALLIBLE_PREFIXES,
  FUNCTIONS_OF_ONE,
  INFALLIBLE_TYPES,
  KNOWN_FUNCTIONS,
  KNOWN_JOINTS,
  KNOWN_LONG_TYPES,
  KNOWN_OPERATORS,
  KNOWN_TYPES,
  PATTERN_JOINTS,
  PATTERN_OPERATORS,
} from './known-sql.ts';
import { RESERVED_WORDS } from './reserved-words.ts';
import { SqlRefusal, wordOf, type SqlToken } from './sql-tokens.ts';
import { TokenCursor } from './token-cursor.ts';

/** The deepest nesting. Deeper clauses could only exhaust the stack. */
const MAX_DEPTH = 100;
const CONSTANTS = ['true', 'false', 'null'];
const TRUTHS = ['true', 'false', 'null', 'unknown'];

/**
 * Parses a clause that a client wrote: columns, constants, `$n`, known functions of them, and known operators. That
 * excludes subqueries, functions that read other data (`query_to_xml`, `current_setting`) and casts that do
 * (`::regclass`), even if the sync engine allows them one day. It also excludes operations on columns that can fail, see
 * `known-sql.ts`. The engine itself refuses clauses without a meaning. `params` are the values of `$n`. Throws
 * `SqlRefusal`.
 */
export function checkOwnClause(
  tokens: readonly SqlToken[],
  params: ReadonlyMap<string, string>,
): void {
  new ClauseReader(tokens, params).readWhole();
}

/** Each method that reads a value returns whether it is constant: it names no column. */
class ClauseReader {
  readonly #cursor: TokenCursor;
  readonly #params: ReadonlyMap<string, string>;
  #depth = 0;

  constructor(tokens: readonly SqlToken[], params: ReadonlyMap<string, string>) {
    this.#cursor = new TokenCursor(tokens);
    this.#params = params;
  }

  readWhole(): void {
    this.#expression();
    if (this.#cursor.current) throw this.#cursor.refusal();
  }

  #expression(): boolean {
    if (++this.#depth > MAX_DEPTH) throw new SqlRefusal('is nested too deep');
    let isConstant = true;
    do {
      if (!this.#side()) isConstant = false;
      while (this.#cursor.takeOneOf(PATTERN_JOINTS)) {
        this.#pattern();
        isConstant = false;
      }
    } while (this.#cursor.takeOperator(COMPARISONS) || this.#cursor.takeOneOf(KNOWN_JOINTS));
    this.#depth--;
    return isConstant;
  }

  /** One side of a comparison: operands with operators that bind more tightly. */
  #side(): boolean {
    // Only here: after an operator NOT would take the whole comparison that follows as its operand.
    while (this.#cursor.take('not'));
    let isConstant = this.#operand();
    let fallible: SqlToken | undefined;
    for (;;) {
      const operator = this.#cursor.current;
      if (this.#cursor.takeOperator(PATTERN_OPERATORS)) {
        this.#pattern();
        isConstant = false;
        continue;
      }
      if (
        this.#cursor.takeOperator(FALLIBLE_OPERATORS) ||
        this.#cursor.takeOneOf(FALLIBLE_JOINTS)
      ) {
        fallible ??= operator;
      } else if (!this.#cursor.takeOperator(KNOWN_OPERATORS)) {
        break;
      }
      if (!this.#operand()) isConstant = false;
    }
    if (fallible && !isConstant) throw fallibleOnColumn(fallible);
    return isConstant;
  }

  /** A pattern is one constant, because a column can hold one that fails. */
  #pattern(): void {
    const token = this.#cursor.current;
    const text = token?.kind === 'parameter' ? this.#params.get(token.text.slice(1)) : token?.text;
    const isText = token?.kind === 'parameter' || token?.kind === 'string';
    if (!token || !isText) throw token ? fallibleOnColumn(token) : this.#cursor.refusal();
    if (/\\'?$/.test(text ?? '')) {
      throw new SqlRefusal(`has at character ${token.at} a pattern that ends with a backslash`);
    }
    this.#cursor.skip();
    if (this.#cursor.take('::')) this.#type();
  }

  #list(): boolean {
    let isConstant = true;
    do if (!this.#expression()) isConstant = false;
    while (this.#cursor.take(','));
    return isConstant;
  }

  #operand(): boolean {
    const prefix = this.#cursor.current;
    let hasPrefix = false;
    while (this.#cursor.takeOperator(FALLIBLE_PREFIXES)) hasPrefix = true;
    let isConstant = this.#value();
    for (;;) {
      const before = this.#cursor.current;
      const suffix = this.#suffix();
      if (suffix === undefined) break;
      if (suffix === 'fallible' && before && !isConstant) throw fallibleOnColumn(before);
      if (suffix === 'column') isConstant = false;
    }
    if (prefix && hasPrefix && !isConstant) throw fallibleOnColumn(prefix);
    return isConstant;
  }

  #value(): boolean {
    const token = this.#cursor.current;
    if (token?.kind === 'word') return this.#word(wordOf(token) ?? '');
    if (this.#cursor.take('(')) {
      const isConstant = this.#expression();
      this.#cursor.expect(')');
      return isConstant;
    }
    const isValue =
      token?.kind === 'parameter'
        ? /^\$[1-9]\d{0,3}$/.test(token.text)
        : token?.kind === 'string' || token?.kind === 'number' || token?.kind === 'name';
    if (!isValue) throw this.#cursor.refusal();
    this.#cursor.skip();
    return token?.kind !== 'name';
  }

  #word(word: string): boolean {
    const follower = this.#cursor.follower;
    if (follower?.text === '(') return this.#call(word);
    const start = this.#cursor.current;
    if (this.#cursor.take('array', '[')) {
      const isConstant = this.#list();
      this.#cursor.expect(']');
      // Arrays of different lengths cannot be joined.
      if (!isConstant && start) throw fallibleOnColumn(start);
      return isConstant;
    }
    if (RESERVED_WORDS.has(word) && !CONSTANTS.includes(word)) throw this.#cursor.refusal();
    this.#cursor.skip();
    // For example date '2026-11-22'.
    const isTyped = follower?.kind === 'string' && KNOWN_TYPES.has(word);
    if (isTyped) this.#cursor.skip();
    return isTyped || CONSTANTS.includes(word);
  }

  #call(word: string): boolean {
    const name = this.#cursor.current;
    let isConstant: boolean;
    let isFallible = FALLIBLE_FUNCTIONS.has(word);
    if (this.#cursor.take('cast', '(')) {
      isConstant = this.#expression();
      this.#cursor.expect('as');
      isFallible = this.#type() === 'fallible';
    } else {
      // PostgreSQL checks the places of ANY, SOME and ALL. Without SELECT they take an array.
      const isKnown =
        isFallible || KNOWN_FUNCTIONS.has(word) || ['any', 'some', 'all'].includes(word);
      if (!isKnown) throw this.#cursor.refusal();
      this.#cursor.skip(2);
      isConstant = FUNCTIONS_OF_ONE.has(word) ? this.#expression() : this.#list();
    }
    this.#cursor.expect(')');
    if (isFallible && !isConstant && name) throw fallibleOnColumn(name);
    return isConstant;
  }

  /** Words that can follow a value and make another value of it. `column`: they name a column. Undefined if there are none. */
  #suffix(): 'fallible' | 'infallible' | 'column' | undefined {
    if (this.#cursor.take('::')) return this.#type();
    if (this.#cursor.take('[')) {
      let isConstant = true;
      if (this.#cursor.current?.text !== ':') isConstant = this.#expression();
      if (this.#cursor.take(':') && this.#cursor.current?.text !== ']') {
        isConstant = this.#expression() && isConstant;
      }
      this.#cursor.expect(']');
      return isConstant ? 'infallible' : 'column';
    }
    if (this.#cursor.take('in', '(') || this.#cursor.take('not', 'in', '(')) {
      const isConstant = this.#list();
      this.#cursor.expect(')');
      return isConstant ? 'infallible' : 'column';
    }
    const isTruth = TRUTHS.some(
      (truth) => this.#cursor.take('is', truth) || this.#cursor.take('is', 'not', truth),
    );
    return isTruth ? 'infallible' : undefined;
  }

  /** Whether a cast to the type can fail. */
  #type(): 'fallible' | 'infallible' {
    const word = wordOf(this.#cursor.current);
    if (!this.#cursor.takeOneOf(KNOWN_LONG_TYPES)) {
      if (!KNOWN_TYPES.has(word ?? '')) throw this.#cursor.refusal();
      this.#cursor.skip();
    }
    if (this.#cursor.take('(')) {
      do this.#number();
      while (this.#cursor.take(','));
      this.#cursor.expect(')');
    }
    if (word === 'time' || word === 'timestamp') {
      this.#cursor.takeOneOf([
        ['with', 'time', 'zone'],
        ['without', 'time', 'zone'],
      ]);
    }
    let isInfallible = INFALLIBLE_TYPES.has(word ?? '');
    while (this.#cursor.take('[', ']')) isInfallible = false;
    return isInfallible ? 'infallible' : 'fallible';
  }

  #number(): void {
    if (this.#cursor.current?.kind !== 'number') throw this.#cursor.refusal();
    this.#cursor.skip();
  }
}

function fallibleOnColumn({ at }: SqlToken): SqlRefusal {
  return new SqlRefusal(
    `has at character ${at} an operation on a column that can fail, and its error could reveal other rows`,
  );
}
