// Ends when this copy of the gateway is ready, or has ended. systemd runs it after the start, with the environment of the copy and
// the copy's process id in MAINPID. It waits for this program even where that process is gone, and ends it after TimeoutStartSec.
// Plain JavaScript without a package: it runs as it is installed.
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 100;
const {
  // Without a host the gateway listens on all addresses, also on this one.
  GATEWAY_HOST: host = '0.0.0.0',
  GATEWAY_MANAGEMENT_PORT: port = '8788',
  MAINPID: mainPid,
} = process.env;

const isReady = () =>
  new Promise((resolve) => {
    get({ host, port, path: '/health/ready', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });

const hasEnded = () => {
  if (!mainPid) return false;
  try {
    return !process.kill(Number(mainPid), 0);
  } catch (error) {
    return error.code === 'ESRCH';
  }
};

while (!(await isReady())) {
  if (hasEnded()) {
    console.error('the copy ended before it was ready');
    process.exit(1);
  }
  await sleep(RETRY_MS);
}
