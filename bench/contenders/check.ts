import assert from 'node:assert/strict';
import { AUTHORIZED } from './contender.ts';
import type { StartedContender } from './line-up.ts';

export interface ExpectedRead {
  /** Of the stream, with its query. */
  path: string;
  body: string;
  /** Names in lower case. */
  headers: Record<string, string>;
}

/** Throws unless the contender passes a read through unchanged and refuses a read without the credential. */
export async function checkContender(
  { id, label, running }: StartedContender,
  expected: ExpectedRead,
): Promise<void> {
  const url = running.url + expected.path;
  const read = await fetch(url, { headers: AUTHORIZED });
  const headers = Object.fromEntries(
    Object.keys(expected.headers).map((name) => [name, read.headers.get(name)]),
  );
  assert.deepEqual(
    { status: read.status, headers, body: await read.text() },
    { status: 200, headers: expected.headers, body: expected.body },
    `${label} does not pass the read on as it is`,
  );
  if (id === 'direct') return;
  for (const authorization of [undefined, 'Bearer bench-api-key-9876543210']) {
    const refused = await fetch(url, { headers: authorization ? { authorization } : {} });
    await refused.arrayBuffer();
    assert.equal(
      refused.status,
      401,
      `${label} lets a read with ${authorization ?? 'no credential'} through`,
    );
  }
}
