import type { DrillWorld, PartName } from './drill-world.ts';

/** A part that dies, and what must be said of it within ten seconds. */
export interface Fault {
  name: string;
  begin: (world: DrillWorld) => Promise<void> | void;
  end: (world: DrillWorld) => Promise<void> | void;
  /** The line at the top of the page, over the list as over the agent. */
  banner?: RegExp;
  /** Whether no command can reach an agent, so that the page offers none. */
  stopsCommands?: boolean;
  /** The row of the agent in the list, and the head of its page. */
  agent?: RegExp;
  /** The page of deployments. */
  deployment?: RegExp;
  /** A line of `agent-gateway doctor`. */
  doctor: RegExp;
  /** What is said of the message that is sent meanwhile. Undefined if it arrives. */
  message: RegExp | undefined;
}

const UNDELIVERED = /^(?:Sending…|Not delivered yet: .*Trying again…)$/s;
const ACCEPTED = /^(?:Sending…|Accepted by Restate, not taken by the agent yet)/;

export const FAULTS: Fault[] = [
  {
    name: 'the agent is killed',
    ...killed('agents'),
    agent: /Connection refused/,
    deployment: /Restate does not reach it: .*Connection refused/,
    doctor: /^✗ deployed {2}Restate does not reach http\S+ \(assistant, .*echo.*\): /m,
    message: ACCEPTED,
  },
  {
    name: 'the agent hangs',
    ...frozen('agents'),
    deployment: /Restate does not reach it: /,
    doctor: /^✗ deployed {2}Restate does not reach http\S+ \(assistant, .*echo.*\): /m,
    message: ACCEPTED,
  },
  {
    name: 'the runtime is killed',
    ...killed('restate'),
    banner: /The runtime, Restate, is not well: /,
    doctor: /^✗ runtime {3}502 upstream_unreachable\./m,
    stopsCommands: true,
    message: UNDELIVERED,
  },
  {
    name: 'the runtime hangs',
    ...frozen('restate'),
    banner: /The runtime, Restate, (?:does not answer in time|is not well)/,
    doctor: /^✗ runtime {3}Restate has not answered in 7 s/m,
    stopsCommands: true,
    message: UNDELIVERED,
  },
  {
    name: 'the history store is killed',
    ...killed('history'),
    banner: /The history store is not well: /,
    doctor: /^✗ history {3}502 upstream_unreachable\./m,
    message: ACCEPTED,
  },
  {
    name: 'the history store hangs',
    ...frozen('history'),
    banner: /The history store (?:does not answer in time|is not well)/,
    doctor: /^✗ history {3}the history store has not answered in 7 s/m,
    message: ACCEPTED,
  },
  {
    name: 'the catalog engine is killed',
    ...killed('catalog'),
    banner: /The catalog engine is not well: /,
    doctor: /^✗ catalog {3}502 upstream_unreachable\./m,
    message: undefined,
  },
  {
    name: 'the gateway is killed',
    ...killed('gateway'),
    banner: /^The gateway at http\S+ does not answer\. /,
    doctor: /^✗ gateway {3}http\S+ \(AGENT_GATEWAY_URL\): the connection is refused/m,
    stopsCommands: true,
    message: UNDELIVERED,
  },
  {
    name: 'the gateway hangs',
    ...frozen('gateway'),
    banner: /^The gateway at http\S+ does not answer\. /,
    doctor: /^✗ gateway {3}http\S+ \(AGENT_GATEWAY_URL\): no answer in time/m,
    stopsCommands: true,
    message: UNDELIVERED,
  },
  {
    name: 'the console, which makes the read tokens, is killed',
    ...killed('console'),
    banner: /^The console does not answer: is its process still running\?$/,
    // It is no part of what the doctor asks about.
    doctor: /^✓ agents {4}none of them fails$/m,
    stopsCommands: true,
    message: UNDELIVERED,
  },
  {
    name: 'the console, which makes the read tokens, hangs',
    ...frozen('console'),
    banner: /^The console does not answer: is its process still running\?$/,
    doctor: /^✓ agents {4}none of them fails$/m,
    stopsCommands: true,
    message: UNDELIVERED,
  },
];

function killed(part: PartName): Pick<Fault, 'begin' | 'end'> {
  return { begin: (world) => world.kill(part), end: (world) => world.start(part) };
}

function frozen(part: PartName): Pick<Fault, 'begin' | 'end'> {
  return { begin: (world) => world.freeze(part), end: (world) => world.thaw(part) };
}
