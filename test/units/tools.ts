import { spawnSync } from 'node:child_process';
import { runTool as run } from '../helm/tools.ts';

/** Each tool, a command that shows that it works, and how to get it. */
const TOOLS: [name: string, args: string[], hint: string][] = [
  ['systemd-analyze', ['--version'], 'apt-get install systemd'],
  ['haproxy', ['-v'], 'apt-get install haproxy'],
  ['ip', ['-V'], 'apt-get install iproute2'],
  [
    'unshare',
    ['--map-root-user', '--net', 'true'],
    'run it as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)',
  ],
];

/** One line for each missing tool: its name and how to get it. */
export function missingTools(): string[] {
  return TOOLS.filter(([name, args]) => spawnSync(name, args).status !== 0).map(
    ([name, , hint]) => `${name}: ${hint}`,
  );
}

/** Runs a tool. Returns its exit code and all that it printed. */
export function runTool(
  name: string,
  args: string[],
  env?: Record<string, string>,
): { code: number | null; output: string } {
  const { code, stdout, stderr } = run(name, args, undefined, env);
  return { code, output: stdout + stderr };
}
