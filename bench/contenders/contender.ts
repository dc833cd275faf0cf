/** A way to the streams of an upstream: the gateway, another proxy, or none. */
export interface Contender {
  /** In results and on the command line. */
  id: string;
  /** For people. */
  label: string;
  /** What must be installed before it can run, or undefined if it can. */
  missing(): string | undefined;
  /** Starts it before the upstream whose streams are at this URL; fulfils when it answers. */
  start(streamsUrl: string): Promise<RunningContender>;
}

export interface RunningContender {
  /** Where it serves the streams: `GET <url><path of a stream>`. */
  url: string;
  /** Of its process group; undefined where it has no process. */
  pid: number | undefined;
  /**
   * How many processes send one request to the upstream for all of their readers that wait for the same. Without it
   * each reader has its own.
   */
  sharingProcesses?: number;
  stop(): Promise<void>;
}

/** The one credential that every contender accepts. */
export const API_KEY = 'bench-api-key-0123456789';
export const AUTHORIZED = { authorization: `Bearer ${API_KEY}` };

/** The path under which every contender serves streams. It is the gateway's own. */
export const STREAMS_PREFIX = '/streams';
