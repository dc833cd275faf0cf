// Ends when this copy of the gateway is ready. systemd runs it after the start, with the environment of the copy, and ends
// it after TimeoutStartSec. Plain JavaScript without a package: it runs as it is installed.
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 100;
const { GATEWAY_HOST: host = '0.0.0.0', GATEWAY_MANAGEMENT_PORT: port = '8788' } = process.env;

const isReady = () =>
  new Promise((resolve) => {
    get({ host, port, path: '/health/ready', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });

while (!(await isReady())) await sleep(RETRY_MS);
