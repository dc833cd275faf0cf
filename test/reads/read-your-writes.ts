import { Agent, request } from 'undici';

export interface Workload {
  /** Where it is read, and by every other turn written. */
  readUrl: string;
  /** The history store itself. */
  writeUrl: string;
  headers: Record<string, string>;
  /** Timelines at once. */
  timelines: number;
  /** Reads, all in all; each has to bring what was acknowledged before it. */
  reads: number;
  /** Further readers of each timeline that ask for the same all the time. */
  readersBeside: number;
}

export interface Outcome {
  reads: number;
  appends: number;
  /** What was acknowledged before the read began and was not in its answer. */
  stale: string[];
}

/** The most events of a response. After that readers continue from a later offset. */
const EVENTS_PER_ANSWER = 20;

/** Appends and reads. Checks that every response has all events that were acknowledged before the request. */
export async function readWrites(workload: Workload): Promise<Outcome> {
  const agent = new Agent({ connections: 256 });
  const outcome: Outcome = { reads: 0, appends: 0, stale: [] };
  const lines = Array.from(
    { length: workload.timelines },
    (_, index) => new Line(workload, outcome, agent, `${Date.now()}-${index}`),
  );
  await Promise.all(lines.map((line) => line.run()));
  await agent.destroy();
  return outcome;
}

/** One timeline, its writer and its readers. */
class Line {
  private readonly workload: Workload;
  private readonly outcome: Outcome;
  private readonly agent: Agent;
  private readonly path: string;
  /** The sequence number of the last event that was acknowledged. */
  private acknowledged = -1;
  /** Where all read from just now: an offset, and the first event behind it. */
  private from = { offset: '-1', seq: 0 };
  private isDone = false;

  constructor(workload: Workload, outcome: Outcome, agent: Agent, name: string) {
    this.workload = workload;
    this.outcome = outcome;
    this.agent = agent;
    this.path = `/t/default/agents/chat/${name}/timeline`;
  }

  async run(): Promise<void> {
    await this.send('PUT', this.workload.writeUrl, undefined);
    const beside = Array.from({ length: this.workload.readersBeside }, async () => {
      while (!this.isDone) await this.read();
    });
    while (this.outcome.reads < this.workload.reads) {
      const base = this.acknowledged % 2 === 0 ? this.workload.readUrl : this.workload.writeUrl;
      const seq = this.acknowledged + 1;
      this.outcome.appends++;
      await this.send('POST', base, JSON.stringify({ seq }));
      this.acknowledged = seq;
      const next = await this.read();
      if (next.seq - this.from.seq > EVENTS_PER_ANSWER) this.from = next;
    }
    this.isDone = true;
    await Promise.all(beside);
  }

  /** Reads and checks; resolves with where the answer ended. */
  private async read(): Promise<{ offset: string; seq: number }> {
    const { from, acknowledged } = this;
    const url = `${this.workload.readUrl}${this.path}?offset=${from.offset}`;
    const { headers } = this.workload;
    const answer = await request(url, { dispatcher: this.agent, headers });
    const body = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`GET ${url}: ${answer.statusCode} ${body}`);
    const seqs = (JSON.parse(body) as { seq: number }[]).map(({ seq }) => seq);
    if (seqs.some((seq, index) => seq !== from.seq + index)) throw new Error(`a gap: ${body}`);
    const next = from.seq + seqs.length;
    this.outcome.reads++;
    if (next <= acknowledged) {
      this.outcome.stale.push(`${acknowledged} was acknowledged, the answer ended before ${next}`);
    }
    return { offset: String(answer.headers['stream-next-offset']), seq: next };
  }

  private async send(
    method: 'PUT' | 'POST',
    base: string,
    body: string | undefined,
  ): Promise<void> {
    const headers = { ...this.workload.headers, 'content-type': 'application/json' };
    const url = base + this.path;
    const answer = await request(url, { dispatcher: this.agent, method, headers, body });
    if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.statusCode}`);
    await answer.body.dump();
  }
}
