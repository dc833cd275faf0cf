/** A health check: exits 0 if something listens on this port of its own container. */
import { connect } from 'node:net';

connect(Number(process.argv[2]), '127.0.0.1')
  .once('connect', () => process.exit(0))
  .once('error', () => process.exit(1));
