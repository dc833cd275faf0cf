import type { Invocation } from './invocations.ts';

/** The columns of `sys_invocation` that `invocationOf` reads. */
export const INVOCATION_COLUMNS =
  'id, target, status, created_at, retry_count, last_failure, next_retry_at, invoked_by_target, last_attempt_deployment_id';

/** The invocation in a row of Restate's answer. */
export function invocationOf(row: Record<string, unknown>): Invocation {
  return {
    id: String(row.id),
    target: String(row.target),
    status: String(row.status),
    createdAt: String(row.created_at),
    tries: Number(row.retry_count ?? 0),
    lastFailure: textOf(row.last_failure),
    nextTryAt: textOf(row.next_retry_at),
    invokedBy: textOf(row.invoked_by_target),
    deploymentId: textOf(row.last_attempt_deployment_id),
  };
}

/** As a text of SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A value that is a text, and undefined for any other. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
