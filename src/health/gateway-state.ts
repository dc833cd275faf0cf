/** What the process is doing; shared between the public port and the management port. */
export class GatewayState {
  isDraining = false;
}
