import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = import.meta.dirname;
const DOCUMENT = join(FOLDER, '../../docs/openapi.json');
/** Far longer than a run takes. */
const TIMEOUT_MS = 300_000;

export interface FuzzOptions {
  url: string;
  /** The only address that Restate may be told to call. */
  agentsUri: string;
  credential: string;
  /** Operations, such as `GET /health`, of which some request has to be taken. */
  taken: string[];
  /** For its report, and for what it keeps for itself. */
  workFolder: string;
  args?: string[];
}

export interface Outcome {
  /** Operations without a fault. */
  passed: number;
  /** What was wrong, a line for each operation. */
  faults: string[];
}

/** The fields of schemathesis' report that are used. */
interface Report {
  complete: boolean;
  operations: { tested: number };
  failures: { title: string; operations: string[] }[];
  errors: unknown[];
  valid_rates: Record<string, Record<string, { accepted: number }>>;
}

/** Runs schemathesis with one credential. */
export async function fuzz(options: FuzzOptions): Promise<Outcome> {
  const { url, agentsUri, credential, workFolder, args = [] } = options;
  const reportFolder = await mkdtemp(join(workFolder, 'report-'));
  const config = ['--config-file', join(FOLDER, 'schemathesis.toml')];
  const where = [DOCUMENT, '--url', url];
  const report = ['--report', 'json', '--report-dir', reportFolder];
  const child = spawn('schemathesis', [...config, 'run', ...where, ...report, ...args], {
    cwd: workFolder,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: TIMEOUT_MS,
    env: {
      ...process.env,
      FUZZ_CREDENTIAL: credential,
      FUZZ_AGENTS_URI: agentsUri,
      PYTHONPATH: FOLDER,
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  await once(child, 'exit');
  const [file] = await readdir(reportFolder);
  if (file === undefined) return { passed: 0, faults: ['schemathesis ended without a report'] };
  const text = await readFile(join(reportFolder, file), 'utf8');
  return outcomeOf(JSON.parse(text) as Report, options.taken);
}

function outcomeOf(report: Report, taken: string[]): Outcome {
  const failed = new Map<string, string[]>();
  const add = (operation: string, fault: string): void => {
    failed.set(operation, [...(failed.get(operation) ?? []), fault]);
  };
  for (const { title, operations } of report.failures) {
    for (const operation of operations) add(operation, title);
  }
  for (const error of report.errors) add('schemathesis', JSON.stringify(error));
  if (!report.complete) add('schemathesis', 'did not come to its end');
  for (const operation of taken) {
    const phases = Object.values(report.valid_rates[operation] ?? {});
    if (!phases.some(({ accepted }) => accepted > 0)) add(operation, 'no request was taken');
  }
  const faults = [...failed].map(([operation, what]) => `${operation}: ${what.join('; ')}`);
  return { passed: Math.max(0, report.operations.tested - faults.length), faults };
}
