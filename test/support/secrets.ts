import { API_KEY } from './credentials.ts';
import { everyUpstream } from './nobody.ts';
import { rawRequest, sendRaw } from './raw-client.ts';

/** A secret that a test puts into every place of a credential, to search for it where none may appear. */
export const SECRET = 'Zq7-secret-Zq7';

/** The text with each character percent-encoded. */
function percentEncoded(text: string): string {
  return text.replace(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

/** The forms in which the secret could leak, also as digits, because a Buffer is logged that way. */
const FORMS = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64').slice(0, 16),
  Buffer.from(SECRET).toString('base64url').slice(0, 16),
  [...Buffer.from(SECRET)].join(','),
  API_KEY,
  percentEncoded(API_KEY),
  percentEncoded(SECRET),
];

/** The forms of the secret that a text contains. */
export function secretsIn(text: string): string[] {
  return FORMS.filter((form) => text.includes(form));
}

/** A gateway with the secret as each of its own credentials and one address for all upstreams. */
export function secretSettings(upstreamUrl: string): Record<string, string> {
  return {
    GATEWAY_LOG_LEVEL: 'trace',
    ...everyUpstream(upstreamUrl),
    GATEWAY_RUNTIME_INGRESS_TOKEN: SECRET,
    GATEWAY_RUNTIME_ADMIN_TOKEN: SECRET,
    GATEWAY_HISTORY_TOKEN: SECRET,
    GATEWAY_SYNC_SECRET: SECRET,
    GATEWAY_READ_TOKEN_SECRETS: `${SECRET}-that-has-32-bytes-and-more`,
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '300',
    GATEWAY_LIVE_TIMEOUT_MS: '300',
  };
}

/** Sends the secret in every place where a client can put it, on each kind of route. Resolves with the number sent. */
export async function sendSecrets(port: number): Promise<number> {
  const token = `${Buffer.from(`{"alg":"HS256","x":"${SECRET}"}`).toString('base64url')}.e30.${SECRET}`;
  const credentials = [
    `Bearer ${API_KEY}`,
    `Bearer ${SECRET}`,
    `Bearer ${token}`,
    `Basic ${Buffer.from(`user:${SECRET}`).toString('base64')}`,
    SECRET,
  ];
  const elsewhere = [
    `Cookie: session=${SECRET}`,
    `Proxy-Authorization: Bearer ${SECRET}`,
    `X-Api-Key: ${SECRET}`,
    `Idempotency-Key: ${SECRET}`,
    `X-Request-Id: not allowed ${SECRET}`,
    `Referer: https://app.example/?token=${SECRET}`,
    `User-Agent: ${SECRET}`,
    `Traceparent: ${SECRET}`,
    `Tracestate: vendor=${SECRET}`,
    `Baggage: key=${SECRET}`,
  ];
  const query = `?token=${SECRET}&secret=${SECRET}&next=/a/${SECRET}?again=${SECRET}`;
  const requests = [
    ['GET', `/health${query}`, ''],
    ['GET', `/streams/x${query}`, ''],
    ['PUT', `/streams/x${query}`, SECRET],
    ['GET', `/shapes/v1/shape${query}&table=${SECRET}&where=${SECRET}`, ''],
    ['GET', `/registry/deployments${query}`, ''],
    ['POST', `/registry/deployments${query}`, `{"uri":"${SECRET}"}`],
    ['POST', `/api/spawn${query}`, `{"type":"${SECRET}!","${SECRET}":1}`],
    ['POST', '/api/spawn', `{"type":"chat","args":"${SECRET}"}`],
    ['POST', '/api/spawn', `{"${SECRET}`],
    ['POST', '/api/a/chat/a1/send', SECRET],
    ['POST', '/api/a/chat/a1/control', `{"verb":"${SECRET}"}`],
    ['GET', `/nothing${query}`, ''],
    // What a client has put into the path by mistake is not to be kept either, where it can be told.
    ['GET', `/streams/${token}`, ''],
    ['GET', `/${token}${query}`, ''],
    ['GET', `/streams/${percentEncoded(token)}`, ''],
    ['GET', `/registry/${percentEncoded(percentEncoded(token))}`, ''],
    ['GET', `/streams/x/${API_KEY}/y`, ''],
    ['PUT', `/streams/${percentEncoded(API_KEY)}`, ''],
    ['GET', `/nothing/key=${percentEncoded(percentEncoded(API_KEY))}`, ''],
    ['POST', `/api/a/chat/${API_KEY}/send`, ''],
    ['POST', `/api/a/${API_KEY}/${percentEncoded(API_KEY)}/control`, '{"verb":"pause"}'],
    ['GET', `/streams/x#${SECRET}`, ''],
    ['GET', `http://user:${SECRET}@host/health`, ''],
    ['CONNECT', `user:${SECRET}@host:443`, ''],
  ] as const;
  const sent = credentials.flatMap((credential) =>
    requests.map(([method, target, body]) =>
      sendRaw(
        port,
        rawRequest(
          `${method} ${target}`,
          [`Authorization: ${credential}`, `Content-Length: ${body.length}`, ...elsewhere],
          body,
        ),
      ),
    ),
  );
  return (await Promise.all(sent)).length;
}

/** Sends requests with the secret that Node's parser refuses or that break off. Resolves with the number sent. */
export async function sendMalformedSecrets(port: number): Promise<number> {
  const head = `GET /streams/x HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer ${SECRET}\r\n`;
  const requests = [
    `${SECRET}\r\n\r\n`,
    `GET /${SECRET} ${SECRET}\r\n\r\n`,
    `${head}${SECRET}\r\n\r\n`,
    `${head}X-Token: ${SECRET}\0\r\n\r\n`,
    `${head}Content-Length: 1\r\nContent-Length: ${SECRET}\r\n\r\n`,
    `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${SECRET}`,
    `${head}X-Long: ${SECRET.repeat(5_000)}\r\n\r\n`,
    `${head}Expect: ${SECRET}\r\nConnection: close\r\n\r\n`,
    `${head}Upgrade: ${SECRET}\r\nConnection: upgrade, close\r\n\r\n`,
    `POST${head.slice('GET'.length)}Transfer-Encoding: chunked\r\n\r\n${SECRET}\r\n${SECRET}`,
  ];
  const sent = requests.map((request) => sendRaw(port, request).catch(() => ''));
  return (await Promise.all(sent)).length;
}
