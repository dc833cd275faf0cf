import type { Contender } from '../contenders/contender.ts';
import type { BenchOptions } from '../options.ts';

/** The arguments of every part of the bench. */
export interface BenchContext {
  options: BenchOptions;
  /** Arguments for the gateway's Node, for its profile in this part. */
  gatewayNodeArgs: (part: string) => string[];
  say: (line: string) => void;
  /** Those of these that the options ask for. */
  chosen: (contenders: readonly Contender[]) => Contender[];
}
