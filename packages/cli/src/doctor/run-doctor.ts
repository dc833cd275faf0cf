import type { CliContext } from '../cli-context.ts';
import type { Connection } from '../connection/connection.ts';
import { EXIT } from '../exit-codes.ts';
import { compactJson } from '../output/json.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor, type Style } from '../output/style.ts';
import { write } from '../output/write.ts';
import { apiKeyFindings } from './api-key-findings.ts';
import { bad, skipped, type Finding } from './finding.ts';
import { gatewayFindings } from './gateway-findings.ts';
import { readTokenClaims, readTokenFindings } from './read-token-findings.ts';
import { upstreamsSkipped } from './upstream-findings.ts';

const NAME_WIDTH = 8;

/** Runs all checks, prints one line each, and sets the exit code of the first bad one. */
export async function runDoctor(
  { json }: { json?: boolean },
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const findings = await examine(connection);
  const style = styleFor(context.stdout);
  const isWell = findings.every(({ state }) => state !== 'bad');
  const text =
    json === true
      ? compactJson({ ok: isWell, findings: findings.map(shown) })
      : findings.map((finding) => findingText(finding, style)).join('\n');
  await write(context.stdout, `${context.notices.withoutSecrets(text)}\n`);
  context.exitCode = findings.find(({ state }) => state === 'bad')?.exitCode ?? EXIT.done;
}

function shown({ name, state, detail, hint }: Finding): Omit<Finding, 'exitCode'> {
  return { name, state, detail, hint };
}

async function examine(connection: Connection): Promise<Finding[]> {
  const gateway = await gatewayFindings(connection);
  if (gateway[0]?.state !== 'ok') {
    const why = 'not asked without a gateway';
    return [...gateway, skipped('key', why), ...upstreamsSkipped(why)];
  }
  return [...gateway, ...(await keyFindings(connection))];
}

function keyFindings(connection: Connection): Promise<Finding[]> | Finding[] {
  const { credential } = connection;
  if (!credential) {
    const hint = 'Give an API key or a read token: --key-file, AGENT_GATEWAY_KEY or a profile.';
    return [
      bad('key', EXIT.refused, 'there is none', hint),
      ...upstreamsSkipped('not asked without a key'),
    ];
  }
  const claims = readTokenClaims(credential.value);
  return claims ? readTokenFindings(connection, claims) : apiKeyFindings(connection);
}

function findingText({ name, state, detail, hint }: Finding, style: Style): string {
  const mark = {
    ok: style('green', '✓'),
    warning: style('yellow', '!'),
    bad: style('red', '✗'),
    skipped: style('dim', '–'),
  }[state];
  const line = `${mark} ${name.padEnd(NAME_WIDTH)}  ${plainLine(detail)}`;
  return hint === undefined ? line : `${line}\n${' '.repeat(NAME_WIDTH + 4)}→ ${plainLine(hint)}`;
}
