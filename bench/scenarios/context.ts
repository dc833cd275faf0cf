import type { Contender } from '../contenders/contender.ts';
import type { BenchOptions } from '../options.ts';

/** What every part of the bench is given. */
export interface BenchContext {
  options: BenchOptions;
  /** Arguments for the gateway's Node, for its profile in this part. */
  gatewayNodeArgs: (part: string) => string[];
  say: (line: string) => void;
  /** Those of these that the options ask for. */
  chosen: (contenders: readonly Contender[]) => Contender[];
}
