import type { CliContext } from '../cli-context.ts';
import type { Connection } from '../connection/connection.ts';
import { EXIT } from '../exit-codes.ts';
import type { Notices } from '../output/notices.ts';
import { plainLine } from '../output/plain-text.ts';
import { print, printJson } from '../output/print.ts';
import { joined, styled, text, type Styled } from '../output/styled.ts';
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
  const { stdout, notices } = context;
  const findings = await examine(connection);
  const told = findings.map((finding) => withoutSecrets(finding, notices));
  const isWell = findings.every(({ state }) => state !== 'bad');
  if (json === true) await printJson(stdout, { ok: isWell, findings: told });
  else await print(stdout, joined(told.map(findingText)));
  context.exitCode = findings.find(({ state }) => state === 'bad')?.exitCode ?? EXIT.done;
}

/** A server may repeat the key in its error. */
function withoutSecrets(
  { name, state, detail, hint }: Finding,
  notices: Notices,
): Omit<Finding, 'exitCode'> {
  return {
    name,
    state,
    detail: notices.withoutSecrets(detail),
    hint: hint && notices.withoutSecrets(hint),
  };
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

function findingText({ name, state, detail, hint }: Finding): Styled {
  const mark = {
    ok: styled('green', '✓'),
    warning: styled('yellow', '!'),
    bad: styled('red', '✗'),
    skipped: styled('dim', '–'),
  }[state];
  const more = hint === undefined ? '' : `${' '.repeat(NAME_WIDTH + 4)}→ ${plainLine(hint)}\n`;
  return text`${mark} ${name.padEnd(NAME_WIDTH)}  ${plainLine(detail)}\n${more}`;
}
