/**
 * What the process is doing, shared between the public port and the management port: serving; from
 * the signal on out of service but still taking what comes (`lame-duck`); no longer listening
 * (`closing`); turning new requests on kept connections away (`refusing`).
 */
export const GATEWAY_PHASES = ['serving', 'lame-duck', 'closing', 'refusing'] as const;
export type GatewayPhase = (typeof GATEWAY_PHASES)[number];

export class GatewayState {
  phase: GatewayPhase = 'serving';

  get isDraining(): boolean {
    return this.phase !== 'serving';
  }
}
