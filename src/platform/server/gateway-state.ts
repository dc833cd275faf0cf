/**
 * The state of the process, shared by the public and the management port: `serving`; `lame-duck`, after the signal,
 * out of service but still accepting; `closing`, no longer listening; `refusing`, also refusing new requests on
 * kept connections.
 */
export const GATEWAY_PHASES = ['serving', 'lame-duck', 'closing', 'refusing'] as const;
export type GatewayPhase = (typeof GATEWAY_PHASES)[number];

export class GatewayState {
  phase: GatewayPhase = 'serving';

  get isDraining(): boolean {
    return this.phase !== 'serving';
  }
}
