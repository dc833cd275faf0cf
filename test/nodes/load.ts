import { randomUUID } from 'node:crypto';
import { AgentGateway } from '../../packages/client/src/index.ts';
import type { LocalSystem } from '../support/local-system.ts';
import { TimelineReader, type NumberedEvent } from '../support/timeline-reader.ts';

const ECHOES = 20;
const ASSISTANTS = 10;
const MS_BETWEEN_TURNS = 2_000;
/** Longer than the gateway takes for any command. */
const IMPATIENT_MS = 60_000;
/** Longer than any scene. */
const PATIENT_MS = 120_000;

export interface Event extends NumberedEvent {
  kind: string;
  replyTo?: number;
  content?: { text?: string }[];
}

/** `patient`: with a key and the library's retries. `impatient`: one request without a key. */
export type Client = 'patient' | 'impatient';

export interface Command {
  agent: string;
  text: string;
  client: Client;
  sentAtMs: number;
  waitedMs: number;
  /** `refused`: a response says that nothing was sent. `doubtful`: it may have run. */
  outcome: 'accepted' | 'refused' | 'doubtful' | undefined;
  /** Why it was not accepted. */
  reason: string;
}

const echoes = Array.from({ length: ECHOES }, (_, index) => `echo/e${index}`);
const assistants = Array.from({ length: ASSISTANTS }, (_, index) => `assistant/a${index}`);

/** A gateway behind which the example agents are. */
export type Target = Pick<LocalSystem, 'baseUrl' | 'apiKey'>;

/** Commands at a steady rate, a turn every two seconds, and a hundred readers. */
export class Load {
  readonly commands: Command[] = [];
  readonly agents: readonly string[] = [...echoes, ...assistants];
  readonly readers: { agent: string; reader: TimelineReader<Event> }[] = [];
  private readonly system: Target;
  private readonly gateway: AgentGateway;
  private readonly open = new Set<Promise<void>>();
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(system: Target) {
    this.system = system;
    this.gateway = new AgentGateway({ url: system.baseUrl, apiKey: system.apiKey });
  }

  async start(commandsPerSecond: number, readers: number): Promise<void> {
    await Promise.all(
      this.agents.map(async (agent) => {
        const [type = '', id] = agent.split('/');
        await this.gateway.agents.spawn({ type, ...(id !== undefined && { id }) });
      }),
    );
    for (let index = 0; index < readers; index++) {
      const agent = this.agents[index % this.agents.length]!;
      const live = index % 2 === 0 ? 'sse' : 'long-poll';
      const url = `${this.system.baseUrl}${timelineOf(agent)}`;
      const reader = new TimelineReader<Event>({ url, apiKey: this.system.apiKey, live });
      this.readers.push({ agent, reader });
    }
    let count = 0;
    const command = (): void => {
      this.send(echoes[count % ECHOES]!, count++ % 2 === 0 ? 'patient' : 'impatient');
    };
    let turns = 0;
    const turn = (): void => this.send(assistants[turns++ % ASSISTANTS]!, 'patient');
    this.timers.push(setInterval(command, 1_000 / commandsPerSecond));
    this.timers.push(setInterval(turn, MS_BETWEEN_TURNS));
  }

  /** Sends no more, and resolves when each command has its outcome. */
  async end(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await Promise.all(this.open);
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await Promise.all(this.readers.map(({ reader }) => reader.stop()));
  }

  async timeline(agent: string): Promise<Event[]> {
    const { baseUrl, apiKey } = this.system;
    const response = await fetch(`${baseUrl}${timelineOf(agent)}?offset=-1`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} for the timeline of ${agent}: ${text}`);
    return JSON.parse(text) as Event[];
  }

  private send(agent: string, client: Client): void {
    const command: Command = {
      agent,
      // What an assistant answers to anything else takes as long as it is.
      text: `count to 3, ${randomUUID()}`,
      client,
      sentAtMs: performance.now(),
      waitedMs: 0,
      outcome: undefined,
      reason: '',
    };
    this.commands.push(command);
    const sent = client === 'patient' ? this.sendPatiently(command) : this.sendOnce(command);
    const done = sent.finally(() => {
      command.waitedMs = performance.now() - command.sentAtMs;
      this.open.delete(done);
    });
    this.open.add(done);
  }

  private async sendPatiently(command: Command): Promise<void> {
    try {
      await this.gateway.agents.send(command.agent, messageOf(command), {
        retryForMs: PATIENT_MS,
      });
      command.outcome = 'accepted';
    } catch (error) {
      command.outcome = 'doubtful';
      command.reason = String(error);
    }
  }

  private async sendOnce(command: Command): Promise<void> {
    command.outcome = 'doubtful';
    try {
      const response = await fetch(`${this.system.baseUrl}/api/a/${command.agent}/send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.system.apiKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(messageOf(command)),
        signal: AbortSignal.timeout(IMPATIENT_MS),
      });
      const body = (await response.json()) as { code?: string; sent?: boolean };
      command.reason = `${response.status} ${body.code}`;
      if (response.status === 202) command.outcome = 'accepted';
      else if (body.sent === false) command.outcome = 'refused';
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      command.reason = cause?.code ?? String(error);
    }
  }
}

function messageOf({ text }: Command) {
  return { kind: 'message', content: [{ type: 'text', text }] };
}

function timelineOf(agent: string): string {
  return `/streams/t/default/agents/${agent}/timeline`;
}
