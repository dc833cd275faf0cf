import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { until } from '../support/until.ts';

/** How the image says that it is run. */
export interface ImageConfig {
  User: string;
  WorkingDir: string;
  Env: string[];
  Cmd: string[];
  Entrypoint: string[] | null;
  Labels: Record<string, string>;
  Healthcheck: { Test: string[] };
  ExposedPorts: Record<string, unknown>;
}

export interface Exit {
  code: number | null;
  output: string;
}

const START_SCRIPT = join(import.meta.dirname, 'start-as-pid-1.sh');

/** A container's process without a container engine: the image's command in its own namespaces. */
export class Container {
  readonly exited: Promise<Exit>;
  private readonly launcher: RunningProcess;
  private readonly lines: string[] = [];
  private readonly config: ImageConfig;
  private readonly settings: Record<string, string>;

  constructor(root: string, config: ImageConfig, settings: Record<string, string>) {
    this.config = config;
    this.settings = settings;
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child=KILL', '--propagation=private'];
    const command = [
      'bash',
      START_SCRIPT,
      root,
      ...this.identity(),
      config.WorkingDir,
      ...config.Cmd,
    ];
    this.launcher = startProcess({
      name: 'container',
      command: '/usr/bin/unshare',
      args: [...namespaces, '--', ...command],
      env: this.environment(),
      onLine: (line) => void this.lines.push(line),
    });
    this.exited = this.launcher.exited.then(({ code }) => ({
      code,
      output: this.lines.join('\n'),
    }));
  }

  /** Resolves once a line holds the text; rejects if the process ends without it. */
  async line(text: string): Promise<void> {
    const isSaid = () => this.lines.some((line) => line.includes(text));
    const ended = this.exited.then(({ output }) => {
      if (!isSaid()) throw new Error(`ended: ${output}`);
    });
    await Promise.race([until(`the line ${text}`, isSaid), ended]);
  }

  /** The process that is PID 1 inside, by its number out here. */
  get pid(): number {
    const children = `/proc/${this.launcher.pid}/task/${this.launcher.pid}/children`;
    return Number(readFileSync(children, 'utf8').trim());
  }

  /** `/proc/<pid>/status` as a map. */
  status(): Map<string, string> {
    const lines = readFileSync(`/proc/${this.pid}/status`, 'utf8').split('\n');
    return new Map(
      lines.map((line) => [line.split(':')[0] ?? '', line.split(':')[1]?.trim() ?? '']),
    );
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Runs a command beside the first process, as the same user. */
  async run(command: string[], settings = {}): Promise<number | null> {
    const [uid = '', gid = ''] = this.identity();
    const inside = ['--target', `${this.pid}`, '--mount', '--pid', '--root', '--wd'];
    const child = spawn(
      'nsenter',
      [...inside, `--setuid=${uid}`, `--setgid=${gid}`, '--', ...command],
      {
        env: { ...this.environment(), ...settings },
        stdio: 'inherit',
      },
    );
    const [code] = await once(child, 'exit');
    return code as number | null;
  }

  async stop(): Promise<void> {
    await this.launcher.kill();
  }

  private identity(): string[] {
    return this.config.User.split(':');
  }

  /** The image's own variables, those of the test, and where the launching tools lie. */
  private environment(): NodeJS.ProcessEnv {
    const own = this.config.Env.map((entry): [string, string] => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    });
    const env: Record<string, string> = { ...Object.fromEntries(own), ...this.settings };
    env.PATH = `${env.PATH}:/usr/sbin:/usr/bin:/sbin:/bin`;
    return env;
  }
}
