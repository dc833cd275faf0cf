import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Said {
  /** Both outputs, as a terminal shows them. */
  output: string;
  /** That of the first command that failed, or 0. */
  exitCode: number;
}

export interface RunOptions {
  timeoutMs?: number;
  /** Presses Ctrl-C once this is true of the output so far. */
  interruptWhen?: (output: string) => boolean;
}

const TIMEOUT_MS = 30_000;
const INTERRUPT_EVERY_MS = 100;

/** One shell for a whole page. Variables and the folder stay between commands. */
export class ShellSession {
  private readonly shell: ChildProcess;
  private readonly script: string;
  private readonly endMark = `end-${randomUUID()}`;
  private output = '';
  private onOutput: () => void = () => undefined;

  private constructor(shell: ChildProcess, folder: string) {
    this.shell = shell;
    this.script = join(folder, '.command');
    for (const stream of [shell.stdout, shell.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        this.onOutput();
      });
    }
    shell.once('exit', () => this.onOutput());
  }

  static start(folder: string, env: NodeJS.ProcessEnv): ShellSession {
    // A process group of its own, so that a Ctrl-C can reach all of it and nothing else.
    const shell = spawn('bash', ['--noprofile', '--norc'], { cwd: folder, env, detached: true });
    // Else the shell would go with what it runs.
    shell.stdin.write('trap : INT\nset -o pipefail\nexec 2>&1\n');
    return new ShellSession(shell, folder);
  }

  /** Runs commands one after the other, each whatever became of the one before. */
  async run(commands: string, { timeoutMs = TIMEOUT_MS, interruptWhen }: RunOptions = {}) {
    writeFileSync(this.script, commands);
    this.output = '';
    const end = new RegExp(`^([^]*)${this.endMark} (\\d+)\n$`);
    const ended = new Promise<Said>((resolve, reject) => {
      let interrupting: NodeJS.Timeout | undefined;
      const timer = setTimeout(() => {
        clearInterval(interrupting);
        this.signal('SIGKILL');
        reject(new Error(`Not done after ${timeoutMs} ms. So far:\n${this.output}`));
      }, timeoutMs);
      this.onOutput = () => {
        const [, output, code] = end.exec(this.output) ?? [];
        if (output === undefined && this.shell.exitCode === null) {
          // Again and again: the first can come between two commands, where the shell takes it alone.
          if (interruptWhen?.(this.output))
            interrupting ??= setInterval(() => this.signal('SIGINT'), INTERRUPT_EVERY_MS);
          return;
        }
        clearTimeout(timer);
        clearInterval(interrupting);
        if (output === undefined) reject(new Error(`The shell ended. It said:\n${this.output}`));
        else resolve({ output, exitCode: Number(code) });
      };
    });
    // The commands are sourced, so that what they set stays; what they fail with is noted on the way.
    const commandsThenMark = [
      `__failed=0; trap '__failed=\${__failed/#0/$?}' ERR`,
      `. '${this.script}' </dev/null`,
      `trap - ERR; printf '%s %d\\n' ${this.endMark} "$__failed"\n`,
    ];
    this.shell.stdin?.write(commandsThenMark.join('; '));
    return ended;
  }

  async stop(): Promise<void> {
    if (this.shell.exitCode !== null || this.shell.signalCode !== null) return;
    const exited = once(this.shell, 'exit');
    this.signal('SIGKILL');
    await exited;
  }

  private signal(signal: NodeJS.Signals): void {
    if (this.shell.pid !== undefined) process.kill(-this.shell.pid, signal);
  }
}
