import { SqlRefusal, wordOf, type SqlToken } from './sql-tokens.ts';

/** A position in the tokens of a clause. */
export class TokenCursor {
  readonly #tokens: readonly SqlToken[];
  #next = 0;

  constructor(tokens: readonly SqlToken[]) {
    this.#tokens = tokens;
  }

  /** Undefined at the end. */
  get current(): SqlToken | undefined {
    return this.#tokens[this.#next];
  }

  get follower(): SqlToken | undefined {
    return this.#tokens[this.#next + 1];
  }

  skip(count = 1): void {
    this.#next += count;
  }

  /** Skips these words and symbols if they come next. */
  take(...phrase: readonly string[]): boolean {
    const isNext = phrase.every((part, i) => {
      const token = this.#tokens[this.#next + i];
      return (wordOf(token) ?? (token?.kind === 'mark' ? token.text : undefined)) === part;
    });
    if (isNext) this.skip(phrase.length);
    return isNext;
  }

  takeOneOf(phrases: readonly (readonly string[])[]): boolean {
    return phrases.some((phrase) => this.take(...phrase));
  }

  takeOperator(known: ReadonlySet<string>): boolean {
    const token = this.current;
    if (token?.kind !== 'operator' || !known.has(token.text)) return false;
    this.skip();
    return true;
  }

  /** Throws `SqlRefusal`. */
  expect(part: string): void {
    if (!this.take(part)) throw this.refusal();
  }

  /** The message gives the position but not the text, because a clause may contain private data. */
  refusal(): SqlRefusal {
    const token = this.current;
    if (!token) return new SqlRefusal('ends too early');
    if (['select', 'table', 'values', 'exists'].includes(wordOf(token) ?? '')) {
      return new SqlRefusal('must not hold a subquery');
    }
    return new SqlRefusal(`has at character ${token.at} what does not pass with a read token`);
  }
}
