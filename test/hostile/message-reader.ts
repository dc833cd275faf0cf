/** A head as received, with header names in lower case. */
export interface MessageHead {
  startLine: string;
  headers: readonly (readonly [name: string, value: string])[];
}

/** The framing of a body: none, a number of bytes, chunks, or the end of the connection. */
export type Framing = 'none' | 'chunked' | 'close' | number;

export interface MessageListener {
  /** Tells where the body ends; `more` for a head behind which the one that counts still comes (RFC 9110 §15.2). */
  onHead(head: MessageHead): Framing | 'more';
  onBody(piece: Buffer): void;
  onEnd(): void;
}

/** Thrown for bytes that are not HTTP. The reader is stricter than any parser. */
export class NoMessage extends Error {}

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const MAX_HEAD_BYTES = 65_536;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;

/**
 * Reads HTTP/1.1 messages of a connection, one behind the other, as strictly as RFC 9112 lets anybody be: what the
 * gateway sends must say the same to every reader.
 */
export class MessageReader {
  private readonly listener: MessageListener;
  private rest: Buffer = Buffer.alloc(0);
  private place: 'head' | 'body' | 'until-close' | 'chunk-size' | 'chunk-end' | 'trailers' = 'head';
  private left = 0;
  private isChunked = false;

  constructor(listener: MessageListener) {
    this.listener = listener;
  }

  /** Whether no message has begun and not ended. */
  get isBetween(): boolean {
    return this.place === 'head' && this.rest.length === 0;
  }

  /** What came and is not the beginning of anything yet. */
  get unread(): string {
    return this.rest.toString('latin1', 0, 200);
  }

  /** Takes what came. Throws `NoMessage`. */
  feed(bytes: Buffer): void {
    this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    while (this.rest.length > 0 && this.step());
  }

  /** The connection has ended: ends a body that lasts until then. */
  finish(): void {
    if (this.place === 'until-close') this.end();
  }

  private step(): boolean {
    switch (this.place) {
      case 'head':
        return this.readHead();
      case 'until-close':
        this.listener.onBody(this.take(this.rest.length));
        return true;
      case 'body':
        return this.readBody();
      case 'chunk-size':
        return this.readChunkSize();
      case 'chunk-end':
        if (this.takeLine() === undefined) return false;
        this.place = 'chunk-size';
        return true;
      case 'trailers':
        return this.readTrailer();
    }
  }

  private readHead(): boolean {
    const end = this.rest.indexOf(HEAD_END);
    if (end === -1) {
      if (this.rest.length > MAX_HEAD_BYTES) throw new NoMessage(`a head without an end`);
      return false;
    }
    const lines = this.take(end + HEAD_END.length)
      .toString('latin1', 0, end)
      .split('\r\n');
    const [startLine = '', ...fields] = lines;
    const headers = fields.map((line) => {
      const [, name, value] = HEADER.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new NoMessage(`no header: ${line}`);
      return [name.toLowerCase(), value] as const;
    });
    const framing = this.listener.onHead({ startLine, headers });
    this.isChunked = framing === 'chunked';
    if (framing === 'more') return true;
    if (framing === 'none' || framing === 0) this.end();
    else if (framing === 'close') this.place = 'until-close';
    else if (framing === 'chunked') this.place = 'chunk-size';
    else [this.place, this.left] = ['body', framing];
    return true;
  }

  private readBody(): boolean {
    const piece = this.take(Math.min(this.left, this.rest.length));
    this.left -= piece.length;
    this.listener.onBody(piece);
    if (this.left > 0) return true;
    if (this.isChunked) this.place = 'chunk-end';
    else this.end();
    return true;
  }

  private readChunkSize(): boolean {
    const line = this.takeLine();
    if (line === undefined) return false;
    if (!/^[0-9a-f]{1,12}$/i.test(line)) throw new NoMessage(`no chunk: ${JSON.stringify(line)}`);
    this.left = Number.parseInt(line, 16);
    this.place = this.left === 0 ? 'trailers' : 'body';
    return true;
  }

  private readTrailer(): boolean {
    const line = this.takeLine();
    if (line === undefined) return false;
    if (line === '') this.end();
    return true;
  }

  private end(): void {
    this.place = 'head';
    this.listener.onEnd();
  }

  private takeLine(): string | undefined {
    const end = this.rest.indexOf(LINE_END);
    if (end === -1) {
      if (this.rest.length > MAX_HEAD_BYTES) throw new NoMessage('a line without an end');
      return undefined;
    }
    const line = this.take(end + LINE_END.length).toString('latin1', 0, end);
    if (this.place === 'chunk-end' && line !== '') throw new NoMessage('a chunk is too long');
    return line;
  }

  private take(length: number): Buffer {
    const piece = this.rest.subarray(0, length);
    this.rest = this.rest.subarray(length);
    return piece;
  }
}

/** The value of a header, or undefined. Throws if the header occurs twice. */
export function onlyValue(head: MessageHead, lowerName: string): string | undefined {
  const values = head.headers.filter(([name]) => name === lowerName);
  if (values.length > 1) throw new NoMessage(`${lowerName} twice`);
  return values[0]?.[1];
}

/** The framing that a head declares, or undefined. Throws if it is ambiguous. */
export function declaredFraming(head: MessageHead): number | 'chunked' | undefined {
  const length = onlyValue(head, 'content-length');
  const coding = onlyValue(head, 'transfer-encoding');
  if (length !== undefined && coding !== undefined) throw new NoMessage('both lengths');
  if (coding !== undefined) {
    if (coding !== 'chunked') throw new NoMessage(`coding ${coding}`);
    return 'chunked';
  }
  if (length === undefined) return undefined;
  if (!/^(?:0|[1-9]\d{0,14})$/.test(length)) throw new NoMessage(`length ${length}`);
  return Number(length);
}
