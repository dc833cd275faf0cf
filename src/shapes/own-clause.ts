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
  readonly #tokens: readonly SqlToken[];
  readonly #params: ReadonlyMap<string, string>;
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly SqlToken[], params: ReadonlyMap<string, string>) {
    this.#tokens = tokens;
    this.#params = params;
  }

  readWhole(): void {
    this.#expression();
    if (this.#peek()) throw this.#refusal();
  }

  #expression(): boolean {
    if (++this.#depth > MAX_DEPTH) throw new SqlRefusal('is nested too deep');
    let isConstant = true;
    do {
      if (!this.#side()) isConstant = false;
      while (this.#takeOneOf(PATTERN_JOINTS)) {
        this.#pattern();
        isConstant = false;
      }
    } while (this.#takeOperator(COMPARISONS) || this.#takeOneOf(KNOWN_JOINTS));
    this.#depth--;
    return isConstant;
  }

  /** One side of a comparison: operands with operators that bind more tightly. */
  #side(): boolean {
    // Only here: after an operator NOT would take the whole comparison that follows as its operand.
    while (this.#take('not'));
    let isConstant = this.#operand();
    let fallible: SqlToken | undefined;
    for (;;) {
      const operator = this.#peek();
      if (this.#takeOperator(PATTERN_OPERATORS)) {
        this.#pattern();
        isConstant = false;
        continue;
      }
      if (this.#takeOperator(FALLIBLE_OPERATORS) || this.#takeOneOf(FALLIBLE_JOINTS)) {
        fallible ??= operator;
      } else if (!this.#takeOperator(KNOWN_OPERATORS)) {
        break;
      }
      if (!this.#operand()) isConstant = false;
    }
    if (fallible && !isConstant) throw fallibleOnColumn(fallible);
    return isConstant;
  }

  /** A pattern is one constant, because a column can hold one that fails. */
  #pattern(): void {
    const token = this.#peek();
    const text = token?.kind === 'parameter' ? this.#params.get(token.text.slice(1)) : token?.text;
    const isText = token?.kind === 'parameter' || token?.kind === 'string';
    if (!token || !isText) throw token ? fallibleOnColumn(token) : this.#refusal();
    if (/\\'?$/.test(text ?? '')) {
      throw new SqlRefusal(`has at character ${token.at} a pattern that ends with a backslash`);
    }
    this.#next++;
    if (this.#take('::')) this.#type();
  }

  #list(): boolean {
    let isConstant = true;
    do if (!this.#expression()) isConstant = false;
    while (this.#take(','));
    return isConstant;
  }

  #operand(): boolean {
    const prefix = this.#peek();
    let hasPrefix = false;
    while (this.#takeOperator(FALLIBLE_PREFIXES)) hasPrefix = true;
    let isConstant = this.#value();
    for (;;) {
      const before = this.#peek();
      const suffix = this.#suffix();
      if (suffix === undefined) break;
      if (suffix === 'fallible' && before && !isConstant) throw fallibleOnColumn(before);
      if (suffix === 'column') isConstant = false;
    }
    if (prefix && hasPrefix && !isConstant) throw fallibleOnColumn(prefix);
    return isConstant;
  }

  #value(): boolean {
    const token = this.#peek();
    if (token?.kind === 'word') return this.#word(wordOf(token) ?? '');
    if (this.#take('(')) {
      const isConstant = this.#expression();
      this.#expect(')');
      return isConstant;
    }
    const isValue =
      token?.kind === 'parameter'
        ? /^\$[1-9]\d{0,3}$/.test(token.text)
        : token?.kind === 'string' || token?.kind === 'number' || token?.kind === 'name';
    if (!isValue) throw this.#refusal();
    this.#next++;
    return token?.kind !== 'name';
  }

  #word(word: string): boolean {
    const follower = this.#tokens[this.#next + 1];
    if (follower?.text === '(') return this.#call(word);
    const start = this.#peek();
    if (this.#take('array', '[')) {
      const isConstant = this.#list();
      this.#expect(']');
      // Arrays of different lengths cannot be joined.
      if (!isConstant && start) throw fallibleOnColumn(start);
      return isConstant;
    }
    if (RESERVED_WORDS.has(word) && !CONSTANTS.includes(word)) throw this.#refusal();
    this.#next++;
    // For example date '2026-11-22'.
    const isTyped = follower?.kind === 'string' && KNOWN_TYPES.has(word);
    if (isTyped) this.#next++;
    return isTyped || CONSTANTS.includes(word);
  }

  #call(word: string): boolean {
    const name = this.#peek();
    let isConstant: boolean;
    let isFallible = FALLIBLE_FUNCTIONS.has(word);
    if (this.#take('cast', '(')) {
      isConstant = this.#expression();
      this.#expect('as');
      isFallible = this.#type() === 'fallible';
    } else {
      // PostgreSQL checks the places of ANY, SOME and ALL. Without SELECT they take an array.
      const isKnown =
        isFallible || KNOWN_FUNCTIONS.has(word) || ['any', 'some', 'all'].includes(word);
      if (!isKnown) throw this.#refusal();
      this.#next += 2;
      isConstant = FUNCTIONS_OF_ONE.has(word) ? this.#expression() : this.#list();
    }
    this.#expect(')');
    if (isFallible && !isConstant && name) throw fallibleOnColumn(name);
    return isConstant;
  }

  /** Words that can follow a value and make another value of it. `column`: they name a column. Undefined if there are none. */
  #suffix(): 'fallible' | 'infallible' | 'column' | undefined {
    if (this.#take('::')) return this.#type();
    if (this.#take('[')) {
      let isConstant = true;
      if (this.#peek()?.text !== ':') isConstant = this.#expression();
      if (this.#take(':') && this.#peek()?.text !== ']') {
        isConstant = this.#expression() && isConstant;
      }
      this.#expect(']');
      return isConstant ? 'infallible' : 'column';
    }
    if (this.#take('in', '(') || this.#take('not', 'in', '(')) {
      const isConstant = this.#list();
      this.#expect(')');
      return isConstant ? 'infallible' : 'column';
    }
    const isTruth = TRUTHS.some(
      (truth) => this.#take('is', truth) || this.#take('is', 'not', truth),
    );
    return isTruth ? 'infallible' : undefined;
  }

  /** Whether a cast to the type can fail. */
  #type(): 'fallible' | 'infallible' {
    const word = wordOf(this.#peek());
    if (!this.#takeOneOf(KNOWN_LONG_TYPES)) {
      if (!KNOWN_TYPES.has(word ?? '')) throw this.#refusal();
      this.#next++;
    }
    if (this.#take('(')) {
      do this.#number();
      while (this.#take(','));
      this.#expect(')');
    }
    if (word === 'time' || word === 'timestamp') {
      this.#takeOneOf([
        ['with', 'time', 'zone'],
        ['without', 'time', 'zone'],
      ]);
    }
    let isInfallible = INFALLIBLE_TYPES.has(word ?? '');
    while (this.#take('[', ']')) isInfallible = false;
    return isInfallible ? 'infallible' : 'fallible';
  }

  #number(): void {
    if (this.#peek()?.kind !== 'number') throw this.#refusal();
    this.#next++;
  }

  #peek(): SqlToken | undefined {
    return this.#tokens[this.#next];
  }

  #takeOperator(known: ReadonlySet<string>): boolean {
    const token = this.#peek();
    if (token?.kind !== 'operator' || !known.has(token.text)) return false;
    this.#next++;
    return true;
  }

  #takeOneOf(phrases: readonly (readonly string[])[]): boolean {
    return phrases.some((phrase) => this.#take(...phrase));
  }

  /** Skips these words and symbols if they come next. */
  #take(...phrase: readonly string[]): boolean {
    const isNext = phrase.every((part, i) => {
      const token = this.#tokens[this.#next + i];
      return (wordOf(token) ?? (token?.kind === 'mark' ? token.text : undefined)) === part;
    });
    if (isNext) this.#next += phrase.length;
    return isNext;
  }

  #expect(part: string): void {
    if (!this.#take(part)) throw this.#refusal();
  }

  /** The message gives the position but not the text, because a clause may contain private data. */
  #refusal(): SqlRefusal {
    const token = this.#peek();
    if (!token) return new SqlRefusal('ends too early');
    if (['select', 'table', 'values', 'exists'].includes(wordOf(token) ?? '')) {
      return new SqlRefusal('must not hold a subquery');
    }
    return new SqlRefusal(`has at character ${token.at} what does not pass with a read token`);
  }
}

function fallibleOnColumn({ at }: SqlToken): SqlRefusal {
  return new SqlRefusal(
    `has at character ${at} an operation on a column that can fail, and its error could reveal other rows`,
  );
}
