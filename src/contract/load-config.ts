import { getHeapStatistics } from 'node:v8';
import { memoryPlan, type MemoryPlan } from './memory-plan.ts';
import { openFileLimit } from './open-files.ts';
import { processMemory } from '../platform/memory/process-memory.ts';
import { ConfigError } from './config-error.ts';
import { Environment } from './environment.ts';
import { gatewayConfig, type GatewayConfig } from './gateway-config.ts';
import { CREDENTIAL_VARIABLES, secretSettings } from './secret-settings.ts';
import { serviceUrlHint } from './service-links.ts';
import { settingsFrom, type Variables } from '../platform/config/setting.decorator.ts';
import { readSmallFileSync, type ReadFile } from '../platform/config/small-file.ts';
import { traceConfig } from '../platform/tracing/trace-settings.ts';

/** The one variable for which an empty value means something: no tenant fence. */
const MAY_BE_EMPTY = new Set(['GATEWAY_SHAPES_TENANT_COLUMN']);

/** A file of these is read without the white space around them, too. */
const CREDENTIALS: ReadonlySet<string> = new Set(CREDENTIAL_VARIABLES);

/**
 * Reads the settings from environment variables and from the files that they name. Throws one `ConfigError` that
 * lists every wrong setting and its valid form.
 */
export function loadConfig(
  variables: Variables,
  readFile: ReadFile = readSmallFileSync,
  plan: MemoryPlan = memoryPlan(
    processMemory().limitBytes,
    getHeapStatistics().heap_size_limit,
    openFileLimit(),
  ),
  platform: NodeJS.Platform = process.platform,
): GatewayConfig {
  const problems: string[] = [];
  const env = settingsFrom(
    Environment,
    (setting) => textOf(setting, variables),
    (setting, problem) =>
      problems.push(`${setting} ${problem}${serviceUrlHint(setting, variables[setting])}`),
  );
  const secrets = secretSettings(env, readFile, problems);
  const hasNoKey = secrets.apiKeys.entries.length === 0;
  if (hasNoKey && !problems.some((problem) => problem.startsWith('GATEWAY_API_KEYS'))) {
    problems.unshift(
      'GATEWAY_API_KEYS is required: one or more comma-separated keys of at least 16 characters, ' +
        'or sha256:<64 hex digits> of one; or GATEWAY_API_KEYS_FILE, a file with one entry a line',
    );
  }
  checkPortsDiffer(env, problems);
  checkReusePort(env, platform, problems);
  const traces = traceConfig(variables, readFile, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return gatewayConfig(env, secrets, traces, plan);
}

/** Undefined if a setting is not set, or empty. */
function textOf(setting: string, variables: Variables): string | undefined {
  const text = CREDENTIALS.has(setting) ? variables[setting]?.trim() : variables[setting];
  return text === '' && !MAY_BE_EMPTY.has(setting) ? undefined : text;
}

/** 0 means any free port, or no management port. */
function checkPortsDiffer(env: Environment, problems: string[]): void {
  const isBad = problems.some((problem) => problem.startsWith('GATEWAY_PORT '));
  if (!isBad && env.GATEWAY_PORT !== 0 && env.GATEWAY_PORT === env.GATEWAY_MANAGEMENT_PORT) {
    problems.push('GATEWAY_MANAGEMENT_PORT must be another port than GATEWAY_PORT');
  }
}

/** Elsewhere Node refuses to share a port, or the kernel does not spread the connections over the copies. */
function checkReusePort(env: Environment, platform: NodeJS.Platform, problems: string[]): void {
  if (env.GATEWAY_REUSE_PORT && platform !== 'linux') {
    problems.push('GATEWAY_REUSE_PORT must be false on this system: only Linux can share a port');
  }
}
