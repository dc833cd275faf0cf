import {
  KNOWN_FUNCTIONS,
  KNOWN_JOINTS,
  KNOWN_LONG_TYPES,
  KNOWN_OPERATORS,
  KNOWN_PREFIXES,
  KNOWN_TYPES,
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
 * (`::regclass`), even if the sync engine allows them one day. Precedence does not matter here, and the engine
 * itself refuses clauses without a meaning. Throws `SqlRefusal`.
 */
export function checkOwnClause(tokens: readonly SqlToken[]): void {
  new ClauseReader(tokens).readWhole();
}

class ClauseReader {
  readonly #tokens: readonly SqlToken[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly SqlToken[]) {
    this.#tokens = tokens;
  }

  readWhole(): void {
    this.#expression();
    if (this.#peek()) throw this.#refusal();
  }

  #expression(): void {
    if (++this.#depth > MAX_DEPTH) throw new SqlRefusal('is nested too deep');
    do this.#operand();
    while (this.#takeOperator(KNOWN_OPERATORS) || this.#takeOneOf(KNOWN_JOINTS));
    this.#depth--;
  }

  #list(): void {
    do this.#expression();
    while (this.#take(','));
  }

  #operand(): void {
    while (this.#take('not') || this.#takeOperator(KNOWN_PREFIXES));
    this.#value();
    while (this.#suffix());
  }

  #value(): void {
    const token = this.#peek();
    if (token?.kind === 'word') return this.#word(wordOf(token) ?? '');
    if (this.#take('(')) {
      this.#expression();
      return this.#expect(')');
    }
    const isValue =
      token?.kind === 'parameter'
        ? /^\$[1-9]\d{0,3}$/.test(token.text)
        : token?.kind === 'string' || token?.kind === 'number' || token?.kind === 'name';
    if (!isValue) throw this.#refusal();
    this.#next++;
  }

  #word(word: string): void {
    const follower = this.#tokens[this.#next + 1];
    if (follower?.text === '(') return this.#call(word);
    if (this.#take('array', '[')) {
      this.#list();
      return this.#expect(']');
    }
    if (RESERVED_WORDS.has(word) && !CONSTANTS.includes(word)) throw this.#refusal();
    this.#next++;
    // For example date '2026-11-22'.
    if (follower?.kind === 'string' && KNOWN_TYPES.has(word)) this.#next++;
  }

  #call(word: string): void {
    if (this.#take('cast', '(')) {
      this.#expression();
      this.#expect('as');
      this.#type();
    } else {
      // PostgreSQL checks the places of ANY, SOME and ALL. Without SELECT they take an array.
      const isKnown = KNOWN_FUNCTIONS.has(word) || ['any', 'some', 'all'].includes(word);
      if (!isKnown) throw this.#refusal();
      this.#next += 2;
      this.#list();
    }
    this.#expect(')');
  }

  /** Words that can follow a value and make another value of it. */
  #suffix(): boolean {
    if (this.#take('::')) {
      this.#type();
    } else if (this.#take('[')) {
      if (this.#peek()?.text !== ':') this.#expression();
      if (this.#take(':') && this.#peek()?.text !== ']') this.#expression();
      this.#expect(']');
    } else if (this.#take('in', '(') || this.#take('not', 'in', '(')) {
      this.#list();
      this.#expect(')');
    } else {
      return TRUTHS.some((truth) => this.#take('is', truth) || this.#take('is', 'not', truth));
    }
    return true;
  }

  #type(): void {
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
    while (this.#take('[', ']'));
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
