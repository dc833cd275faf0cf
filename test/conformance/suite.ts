import { runConformanceTests } from '@durable-streams/server-conformance-tests';

// The suite's own entry (`dist/test-runner.js`) lies below node_modules, where Vitest runs no tests.
//
// The subscription tests stay off, as they are by default: a worker sends the token of its lease in
// Authorization, where the gateway's own credential stands.
runConformanceTests({ baseUrl: process.env.CONFORMANCE_URL ?? '' });
