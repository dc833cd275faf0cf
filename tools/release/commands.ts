import { execFileSync } from 'node:child_process';

/** Runs a command and returns its standard output. Throws an Error with its output if it fails. */
export function run(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv } = { cwd: process.cwd() },
): string {
  try {
    return execFileSync(command, args, {
      ...options,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    const {
      stdout = '',
      stderr = '',
      message,
    } = error as Error & {
      stdout?: string;
      stderr?: string;
    };
    throw new Error(`${message}\n${stdout}${stderr}`, { cause: error });
  }
}

/** Whether a command is installed. */
export function has(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v "${command}"`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
