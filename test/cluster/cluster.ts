import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiServer, type ApiAnswer } from '../helm/api-server.ts';
import type { Tree } from '../helm/chart.ts';
import { prepareCluster } from '../helm/dry-run.ts';
import { writeYaml } from '../helm/yaml.ts';

export interface Said {
  code: number;
  output: string;
}

/** A real API server, and one Helm that installs into it. Nothing runs its pods. */
export class Cluster {
  readonly helmVersion: string;
  private readonly server: ApiServer;
  private readonly helmPath: string;
  private readonly folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  private files = 0;

  constructor(server: ApiServer, helmPath: string, helmVersion: string) {
    this.server = server;
    this.helmPath = helmPath;
    this.helmVersion = helmVersion;
    writeFileSync(this.path('kubeconfig'), server.kubeconfig(), { mode: 0o600 });
  }

  static async start(): Promise<ApiServer> {
    const server = await ApiServer.start();
    try {
      await prepareCluster(server);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }

  /** Makes a namespace with the restricted Pod Security profile. */
  async namespace(name: string): Promise<string> {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await this.call('POST', '/api/v1/namespaces', { metadata: { name, labels } });
    return name;
  }

  /** Runs Helm, and says what it said. With values, they are its file of values. */
  async helm(args: string[], values?: Tree): Promise<Said> {
    const file = this.path(`values-${this.files++}.yaml`);
    if (values) writeFileSync(file, writeYaml(values));
    const all = [...args, ...(values ? [`--values=${file}`] : [])];
    const env = {
      ...process.env,
      KUBECONFIG: this.path('kubeconfig'),
      // Of this test alone.
      HELM_CACHE_HOME: this.path('cache'),
      HELM_CONFIG_HOME: this.path('config'),
      HELM_DATA_HOME: this.path('data'),
    };
    try {
      const { stdout, stderr } = await promisify(execFile)(this.helmPath, all, { env });
      return { code: 0, output: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
      if (typeof code !== 'number') throw error;
      return { code, output: stdout + stderr };
    }
  }

  /** Runs Helm, which must succeed. */
  async done(args: string[], values?: Tree): Promise<string> {
    const { code, output } = await this.helm(args, values);
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${output}`);
    return output;
  }

  async get(path: string): Promise<Tree | undefined> {
    const { status, body } = await this.server.call('GET', path);
    return status === 404 ? undefined : (JSON.parse(body) as Tree);
  }

  async call(method: string, path: string, body?: unknown, type?: string): Promise<ApiAnswer> {
    const answer = await this.server.call(method, path, body, type);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.body}`);
    return answer;
  }

  /** What `kubectl scale` and the autoscalers do. */
  async scale(namespace: string, deployment: string, replicas: number): Promise<void> {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}/scale`;
    const type = 'application/merge-patch+json';
    await this.call('PATCH', `${path}?fieldManager=kubectl`, { spec: { replicas } }, type);
  }

  /** What a node does: says how the pods of a namespace have ended, until the promise is settled. */
  async endPods(namespace: string, phase: string, until: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = until.finally(() => (isOver = true)).catch(() => undefined);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    while (!isOver) {
      const { items = [] } = (await this.get(path)) as { items?: Tree[] };
      for (const { metadata, status } of items) {
        if ((status as Tree).phase !== 'Pending') continue;
        const { name } = metadata as { name: string };
        const type = 'application/merge-patch+json';
        await this.call('PATCH', `${path}/${name}/status`, { status: { phase } }, type);
      }
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 100))]);
    }
  }

  private path(name: string): string {
    return join(this.folder, name);
  }
}
