/** The rows of a query to Restate's admin API, through a gateway. The client library has no call for a query of one's own. */
export async function queryRestate<Row = Record<string, unknown>>(
  gatewayUrl: string,
  authorized: { authorization: string },
  query: string,
): Promise<Row[]> {
  const response = await fetch(`${gatewayUrl}/registry/query`, {
    method: 'POST',
    headers: { ...authorized, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as { rows: Row[] }).rows;
}
