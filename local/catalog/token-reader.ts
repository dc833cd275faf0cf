import { WhereError } from './where-tokens.ts';
import type { Token } from './where-tokens.ts';

/** A place in the tokens of a clause. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  peek(): Token {
    return this.#tokens[this.#next]!;
  }

  next(): void {
    this.#next += 1;
  }

  takeKeyword(keyword: string): boolean {
    return this.#take('word', keyword);
  }

  takeSymbol(symbol: string): boolean {
    return this.#take('symbol', symbol);
  }

  expectKeyword(keyword: string): void {
    if (!this.takeKeyword(keyword)) throw this.unexpected();
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.unexpected();
  }

  unexpected(): WhereError {
    const { kind, text, position } = this.peek();
    return new WhereError(
      position,
      kind === 'end' ? 'unexpected end' : `unexpected ${JSON.stringify(text)}`,
    );
  }

  #take(kind: Token['kind'], text: string): boolean {
    const token = this.peek();
    if (token.kind !== kind || token.text !== text) return false;
    this.#next += 1;
    return true;
  }
}
