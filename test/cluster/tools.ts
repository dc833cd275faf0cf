import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ApiServer } from '../helm/api-server.ts';
import { findTool } from '../helm/tools.ts';

/** Helm 4 has the name of Helm 3, so it has a folder of its own. */
const HELM_4 = 'helm.sh/helm/v4/cmd/helm@v4.3.2';
const HELM_4_FOLDER = join(homedir(), '.cache/agent-gateway/helm-4');

/** The Helms by their version; both are found, or built. So is the API server, which takes ten minutes the first time. */
export function findOrBuild(): Record<string, string> {
  if (!ApiServer.isAvailable()) {
    execFileSync('bash', [join(import.meta.dirname, '../helm/get-api-server.sh')], {
      stdio: ['ignore', process.stderr.fd, process.stderr.fd],
    });
  }
  const helm4 = join(HELM_4_FOLDER, 'helm');
  if (!existsSync(helm4)) {
    execFileSync(findTool('go') ?? 'go', ['install', HELM_4], {
      env: { ...process.env, GOBIN: HELM_4_FOLDER },
      stdio: ['ignore', process.stderr.fd, process.stderr.fd],
    });
  }
  return { 'Helm 3': findTool('helm') ?? 'helm', 'Helm 4': helm4 };
}
