import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { choosePorts } from '../../local/stack/ports.ts';
import { findTool } from './tools.ts';

const TOKEN = 'test-helm-admin';
const LOOPBACK = '127.0.0.1';

export interface ApiAnswer {
  status: number;
  body: string;
  /** Of each `Warning` header, what Pod Security and others have to say. */
  warnings: string[];
}

/** A real Kubernetes API server and its etcd, on loopback, without nodes or controllers. */
export class ApiServer {
  private readonly folder = mkdtempSync(join(tmpdir(), 'api-server-'));
  private readonly processes: ChildProcess[] = [];
  private port = 0;

  static isAvailable(): boolean {
    return findTool('etcd') !== undefined && findTool('kube-apiserver') !== undefined;
  }

  static async start(): Promise<ApiServer> {
    const server = new ApiServer();
    try {
      await server.startProcesses();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  async stop(): Promise<void> {
    for (const process of this.processes.reverse()) {
      if (process.exitCode !== null || process.signalCode !== null) continue;
      process.kill('SIGKILL');
      await once(process, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What a client such as Helm needs to know, as a file of `KUBECONFIG`. */
  kubeconfig(): string {
    const cluster = {
      server: `https://${LOOPBACK}:${this.port}`,
      'insecure-skip-tls-verify': true,
    };
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster }],
      users: [{ name: 'admin', user: { token: TOKEN } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
      'current-context': 'test',
    });
  }

  readonly call = (
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<ApiAnswer> => {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': type };
      const options = { host: LOOPBACK, port: this.port, method, path, headers };
      const outgoing = request({ ...options, rejectUnauthorized: false }, (answer) => {
        const { statusCode = 0, headersDistinct } = answer;
        text(answer).then(
          (read) =>
            resolve({ status: statusCode, body: read, warnings: headersDistinct.warning ?? [] }),
          reject,
        );
      });
      outgoing.on('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  };

  private async startProcesses(): Promise<void> {
    const { etcdPort, peerPort, port } = await choosePorts({ etcdPort: 0, peerPort: 0, port: 0 });
    this.port = port;
    const etcdUrl = `http://${LOOPBACK}:${etcdPort}`;
    const peerUrl = `http://${LOOPBACK}:${peerPort}`;
    await this.run('etcd', 'ready to serve client requests', [
      `--data-dir=${join(this.folder, 'etcd')}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      '--unsafe-no-fsync',
    ]);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = this.file('key.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const tokens = this.file('tokens.csv', `${TOKEN},admin,admin,system:masters\n`);
    await this.run('kube-apiserver', 'Serving securely', [
      `--etcd-servers=${etcdUrl}`,
      `--secure-port=${port}`,
      `--bind-address=${LOOPBACK}`,
      `--cert-dir=${join(this.folder, 'certificates')}`,
      `--token-auth-file=${tokens}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      // No controllers run here that would make the default accounts.
      '--disable-admission-plugins=ServiceAccount',
      '--service-cluster-ip-range=10.0.0.0/24',
    ]);
    // The namespaces and the priority classes are made a moment after it serves.
    for (;;) {
      const { status } = await this.call('GET', '/readyz');
      if (status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Starts a program and resolves once a line of its output says that it is ready. */
  private run(name: string, ready: string, args: string[]): Promise<void> {
    const child = spawn(findTool(name) ?? name, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.processes.push(child);
    const last: string[] = [];
    return new Promise((resolve, reject) => {
      createInterface(child.stderr).on('line', (line) => {
        last.push(line);
        if (last.length > 20) last.shift();
        if (line.includes(ready)) resolve();
      });
      child.once('exit', () => reject(new Error(`${name} ended:\n${last.join('\n')}`)));
    });
  }

  private file(name: string, content: string | Buffer): string {
    const path = join(this.folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }
}
