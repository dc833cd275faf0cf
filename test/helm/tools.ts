import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** How to install each tool. All of them come from the Go module proxy. */
const TOOLS = {
  helm: 'go install helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'go install github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
  'helm-docs': 'go install github.com/norwoodj/helm-docs/cmd/helm-docs@v1.14.2',
  go: 'install Go 1.26 or newer',
};

/** The folder of `go install`, which is often not in PATH. */
const FOLDERS = [
  ...(process.env.PATH ?? '').split(delimiter),
  ...(process.env.GOBIN ? [process.env.GOBIN] : []),
  join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin'),
  '/usr/local/go/bin',
];

export function findTool(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** One line for each missing tool: its name and how to install it. */
export function missingTools(): string[] {
  return Object.entries(TOOLS)
    .filter(([name]) => findTool(name) === undefined)
    .map(([name, hint]) => `${name}: ${hint}`);
}

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a tool with an input, and with variables beside those of this process. */
export function runTool(
  name: string,
  args: string[],
  input?: string,
  env?: Record<string, string>,
): Outcome {
  const { status, stdout, stderr, error } = spawnSync(findTool(name) ?? name, args, {
    encoding: 'utf8',
    input,
    env: { ...process.env, ...env },
    maxBuffer: 256 * 1_048_576,
  });
  if (error) throw error;
  return { code: status, stdout, stderr };
}
