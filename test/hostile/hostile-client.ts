import { connect, type Socket } from 'node:net';
import { resetConnection } from '../../src/platform/http/reset-connection.ts';
import { Answers } from './answers.ts';
import { isEndless, type ClientPlan } from './plan.ts';
import { CREDENTIAL, mutate, withCredential } from './mutations.ts';
import { requestBytes, type RequestBytes } from './requests.ts';
import { randomFor } from './seed.ts';

/** Every expected byte arrives within this time on any machine. It is no test of speed. */
const DEADLINE_MS = 30_000;

/** How a client's connection ended. `stuck` means that an expected response did not arrive and nobody closed it. */
export type End = 'satisfied' | 'left' | 'ended' | 'reset' | 'stopped' | 'stuck';

export interface Outcome {
  answers: Answers;
  end: End;
}

/** What a client needs: the gateway's address, the credentials of the plans, and the end of its round. */
export interface ClientWorld {
  port: number;
  seed: string;
  credentialOf(credential: string, ttlSeconds: number): Promise<string | undefined>;
  /** Fulfils when every client has come to its end that comes to one by itself. */
  roundOver: Promise<void>;
}

/** Follows the plan until it is complete or the gateway has closed the connection. Never rejects. */
export async function playClient(plan: ClientPlan, world: ClientWorld): Promise<Outcome> {
  const credentials = await Promise.all(
    plan.requests.map(({ credential }) => world.credentialOf(credential, plan.ttlSeconds)),
  );
  const requests = plan.requests.map((request, index) => {
    const sent = plan.manner.kind === 'mutated' ? CREDENTIAL : credentials[index];
    return requestBytes(request, credentials[index] === undefined ? undefined : sent);
  });
  return new HostileClient(plan, requests, credentials[0], world).play();
}

class HostileClient {
  private readonly plan: ClientPlan;
  private readonly answers: Answers;
  private readonly world: ClientWorld;
  private readonly socket: Socket;
  private readonly sent: Buffer;
  /** Sent once the client is asked for it. */
  private later: string | undefined;
  private receivedBytes = 0;
  private pauses: number;
  private settle: (end: End) => void = () => undefined;

  constructor(
    plan: ClientPlan,
    requests: RequestBytes[],
    credential: string | undefined,
    world: ClientWorld,
  ) {
    this.plan = plan;
    this.world = world;
    this.answers = new Answers(plan.requests.map(({ method }) => method));
    this.pauses = plan.manner.kind === 'slow' ? plan.manner.pauses : 0;
    const last = plan.requests.at(-1);
    // Those that wait for leave, do so with their last request; others send the body without.
    if (last?.body === 'expect' && plan.manner.kind === 'plain') this.later = requests.at(-1)?.body;
    const texts = requests.flatMap(({ head, body }, index) =>
      this.later !== undefined && index === requests.length - 1 ? [head] : [head, body],
    );
    this.sent = this.disguised(Buffer.from(texts.join(''), 'latin1'), credential);
    this.socket = connect({ port: world.port, host: '127.0.0.1', allowHalfOpen: true });
  }

  play(): Promise<Outcome> {
    const { socket } = this;
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.settle('stuck'), DEADLINE_MS);
      this.settle = (end) => {
        this.settle = () => undefined;
        clearTimeout(deadline);
        if (!socket.destroyed) resetConnection(socket);
        resolve({ answers: this.answers, end });
      };
      socket.once('connect', () => this.send());
      socket.on('data', (bytes: Buffer) => this.onBytes(bytes));
      socket.on('end', () => {
        this.answers.finish();
        this.settle('ended');
      });
      socket.on('error', () => this.settle('reset'));
      socket.on('close', () => this.settle('reset'));
    });
  }

  private disguised(bytes: Buffer, credential: string | undefined): Buffer {
    const { manner, id } = this.plan;
    if (manner.kind !== 'mutated') return bytes;
    const random = randomFor(this.world.seed, id, 'mutations');
    return withCredential(mutate(random, bytes, manner.mutations), credential);
  }

  private send(): void {
    const { socket, sent } = this;
    const { manner } = this.plan;
    switch (manner.kind) {
      case 'slow':
        return this.sendSlowly(0, manner.writesBytes, manner.pauseMs);
      case 'abort-request':
        socket.write(sent.subarray(0, Math.floor(manner.share * sent.length)), () =>
          this.leave(manner.byReset),
        );
        return;
      case 'half-close':
      case 'mutated':
        return void socket.end(sent);
      default:
        socket.write(sent);
    }
  }

  private sendSlowly(from: number, bytes: number, pauseMs: number): void {
    if (this.socket.destroyed) return;
    const isLast = this.pauses-- <= 0;
    this.socket.write(isLast ? this.sent.subarray(from) : this.sent.subarray(from, from + bytes));
    if (!isLast) setTimeout(() => this.sendSlowly(from + bytes, bytes, pauseMs), pauseMs);
  }

  private onBytes(bytes: Buffer): void {
    this.answers.feed(bytes);
    this.receivedBytes += bytes.length;
    if (this.answers.fault !== undefined || this.isSatisfied()) return this.settle('satisfied');
    if (this.later !== undefined && this.answers.continues > 0) {
      this.socket.write(this.later, 'latin1');
      this.later = undefined;
    }
    this.misbehave();
  }

  private misbehave(): void {
    const { manner } = this.plan;
    switch (manner.kind) {
      case 'slow':
        if (this.receivedBytes < manner.readsBytes || this.pauses-- <= 0) return;
        this.socket.pause();
        setTimeout(() => this.socket.resume(), manner.pauseMs);
        return;
      case 'stopping':
        if (this.receivedBytes < manner.afterBytes || this.socket.isPaused()) return;
        this.socket.pause();
        void this.world.roundOver.then(() => this.settle('stopped'));
        return;
      case 'abort-answer':
        if (this.receivedBytes >= manner.afterBytes) this.leave(manner.byReset);
    }
  }

  private leave(byReset: boolean): void {
    if (!byReset) this.socket.destroy();
    this.settle('left');
  }

  /** Whether everything is here that will ever come. */
  private isSatisfied(): boolean {
    const { requests, manner } = this.plan;
    // These wait for the gateway to close.
    if (manner.kind === 'half-close' || manner.kind === 'mutated') return false;
    const { all, wholeCount } = this.answers;
    const last = requests.at(-1);
    if (all.length < requests.length || !last) return false;
    if (last.body === 'too-short' && !isEndless(last.answer.behaviour)) return false;
    if (wholeCount === requests.length) return true;
    const { bytes } = all.at(-1) ?? { bytes: 0 };
    return isEndless(last.answer.behaviour) && bytes >= last.answer.bytes;
  }
}
