import { choosePorts } from '../../local/stack/ports.ts';
import { startNginx } from '../nginx-process.ts';
import type { Started } from '../started.ts';
import type { Runtime } from './runtime.ts';

const ACCEPTED = '{"invocationId":"inv_1fN4IP9kHJfU5QYBLKKXYXUmBkVVuJxHZp","status":"Accepted"}';

/** An nginx that accepts every command at once, so that only the way to it is measured. Nobody handles them. */
export async function startInstantRuntime(started: Started): Promise<Runtime> {
  const { port } = await choosePorts({ port: 0 });
  const origin = `http://127.0.0.1:${port}`;
  started.add(
    await startNginx({
      http: `
  server {
    listen 127.0.0.1:${port} backlog=4096;
    default_type application/json;
    location = /ready {
      return 200;
    }
    location / {
      return 202 '${ACCEPTED}';
    }
  }`,
      readyUrl: `${origin}/ready`,
    }),
  );
  return {
    ingressUrl: origin,
    adminUrl: origin,
    handled: () => Promise.resolve(0),
    untilHandled: () => Promise.resolve(),
  };
}
