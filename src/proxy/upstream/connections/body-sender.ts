import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/**
 * Sends the streamed body of a request as fast as the upstream takes it. Whoever gave the body ends the request if it
 * breaks off.
 */
export class BodySender {
  isDone = false;
  private readonly body: Readable;
  private readonly socket: Socket;
  private readonly onDone: () => void;
  private sentBefore = 0;

  constructor(socket: Socket, body: Readable, onDone: () => void) {
    this.socket = socket;
    this.body = body;
    this.onDone = onDone;
    socket.on('drain', this.onDrain);
    body.on('data', this.onData).once('end', this.onEnd);
  }

  /** Whether bytes have left since the last call, or the sender waits for the rest of the body and not for the upstream. */
  hasProgressed(): boolean {
    const { socket, body } = this;
    const sentBytes = socket.bytesWritten - socket.writableLength;
    const hasMoved = sentBytes > this.sentBefore;
    this.sentBefore = sentBytes;
    return hasMoved || (!socket.writableNeedDrain && !body.readableEnded);
  }

  /** Sends no more. The rest is read all the same, because it stands before the next request on its connection. */
  stop(): void {
    this.socket.off('drain', this.onDrain);
    this.body.off('data', this.onData).off('end', this.onEnd);
    this.body.resume();
  }

  private readonly onData = (piece: Buffer): void => {
    if (!this.socket.write(piece)) this.body.pause();
  };

  private readonly onDrain = (): void => void this.body.resume();

  private readonly onEnd = (): void => {
    this.isDone = true;
    this.stop();
    this.onDone();
  };
}
