import {
  declaredFraming,
  MessageReader,
  NoMessage,
  onlyValue,
  type Framing,
  type MessageHead,
} from './message-reader.ts';
import { ANSWER_FOR, EVENTS, repeated, unitOf } from './pattern.ts';

const MAX_KEPT_BYTES = 8_192;
const STATUS_LINE = /^HTTP\/1\.1 ([1-9]\d{2}) [\t\x20-\x7e\x80-\xff]*$/;

/** One answer as a client got it. */
export interface Answer {
  status: number;
  head: MessageHead;
  /** Of its body. */
  bytes: number;
  /** The beginning of a body of the gateway's own, or of one whose sender nobody knows. */
  text: string;
  /** Why the body is not what the upstream sent for the id that its head names. */
  bodyFault: string | undefined;
  isWhole: boolean;
}

/** Reads what a client gets on one connection. */
export class Answers {
  /** The final ones, in order; the last may be under way. */
  readonly all: Answer[] = [];
  /** How often the client was asked to send its body. */
  continues = 0;
  /** Why what came is no HTTP. */
  fault: string | undefined;
  private readonly methods: readonly string[];
  private readonly reader: MessageReader;

  /** `methods` of the requests, in order: an answer to HEAD has no body. */
  constructor(methods: readonly string[]) {
    this.methods = methods;
    this.reader = new MessageReader({
      onHead: (head) => this.onHead(head),
      onBody: (piece) => this.onBody(piece),
      onEnd: () => {
        const last = this.all.at(-1);
        if (last) last.isWhole = true;
      },
    });
  }

  get last(): Answer | undefined {
    return this.all.at(-1);
  }

  /** How many are here to their end. */
  get wholeCount(): number {
    return this.all.filter(({ isWhole }) => isWhole).length;
  }

  feed(bytes: Buffer): void {
    if (this.fault !== undefined) return;
    try {
      this.reader.feed(bytes);
    } catch (error) {
      if (!(error instanceof NoMessage)) throw error;
      this.fault = `${error.message} behind ${this.all.length} answers`;
    }
  }

  /** The connection has ended in order. */
  finish(): void {
    this.reader.finish();
  }

  private onHead(head: MessageHead): Framing | 'more' {
    const status = Number(STATUS_LINE.exec(head.startLine)?.[1]);
    if (Number.isNaN(status)) throw new NoMessage(`no status line: ${head.startLine}`);
    if (status === 100) this.continues++;
    if (status < 200) return 'more';
    const method = this.methods[this.all.length];
    this.all.push({ status, head, bytes: 0, text: '', bodyFault: undefined, isWhole: false });
    const framing = declaredFraming(head);
    if (method === 'HEAD' || status === 204 || status === 304) return 'none';
    return framing ?? 'close';
  }

  private onBody(piece: Buffer): void {
    const answer = this.all.at(-1);
    if (!answer) return;
    const id = onlyValue(answer.head, ANSWER_FOR);
    if (id !== undefined) {
      const unit = unitOf(id, onlyValue(answer.head, 'content-type') === EVENTS);
      if (!piece.equals(repeated(unit, answer.bytes, piece.length)))
        answer.bodyFault ??= `at ${answer.bytes}: ${JSON.stringify(piece.toString('latin1', 0, 120))}`;
    }
    if (answer.text.length < MAX_KEPT_BYTES) {
      answer.text += piece.toString('latin1', 0, MAX_KEPT_BYTES);
    }
    answer.bytes += piece.length;
  }
}
