import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { startRestate } from '../../local/stack/restate.ts';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import { killAllClis, reaches, runCli, type CliResult } from '../support/cli.ts';
import { API_KEY, READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { recordingAgent } from '../support/recording-agent.ts';
import { registerAgents } from '../support/restate.ts';
import { listening } from '../support/listening.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';
import { TLS_IDENTITY } from '../support/tls-identity.ts';

const TYPE = 'cli-doctor-patient';
const NARROW_KEY = 'a-key-that-opens-next-to-nothing';
afterAll(killAllClis);
const folder = forAllTests(newFolder);
// One of its own: in the one of all suites are deployments that have ended.
const restate = forAllTests(() => startRestate({ dataDir: join(folder.path, 'restate') }));
forAllTests(() => registerAgents([recordingAgent(TYPE).service], restate.adminUrl));
const history = forAllTests(() => startHistory());
const catalog = forAllTests(() => startCatalog({ port: 0, databasePath: ':memory:' }));
const gateway = forAllTests(() =>
  startTestGateway({
    GATEWAY_RUNTIME_INGRESS_URL: restate.ingressUrl,
    GATEWAY_RUNTIME_ADMIN_URL: restate.adminUrl,
    GATEWAY_HISTORY_URL: history.url,
    GATEWAY_SYNC_URL: catalog.url,
    GATEWAY_API_KEYS: `${API_KEY} name=wide,${NARROW_KEY} name=narrow scopes=streams:read+shapes:read paths=/streams/elsewhere`,
  }),
);
/** A gateway none of whose upstreams listens. */
const lonely = forAllTests(() => startTestGateway());

/** What the doctor says of a gateway with these settings, which is there for that. */
async function doctorOf(settings: Record<string, string>): Promise<CliResult> {
  const own = await startTestGateway(settings);
  const result = await runCli(['doctor'], { env: reaches(own) });
  await own.stop();
  return result;
}

/** The parts of the output that differ from run to run. */
function steady(out: string): string {
  return out
    .replaceAll(/in \d+ ms/g, 'in N ms')
    .replaceAll(/\(request \w{26}\)/g, '(request R)')
    .replaceAll(/registered types: .*/g, (types) => (types.includes(TYPE) ? 'types' : types));
}

/**
 * The real Restate behind a door that opens one kind of path. It answers any other one as Restate does with a path that it
 * does not have.
 */
function startRuntimeOf(only: string): Promise<ScriptedUpstream> {
  return startScriptedUpstream(({ url = '', method = '' }, response, body) => {
    if (url.startsWith('/restate/send/') !== (only === 'restate')) {
      response.writeHead(404).end('{"message":"not found"}');
      return;
    }
    void fetch(restate.ingressUrl + url, { method, body: new Uint8Array(body) }).then(
      async (answer) => {
        response.setHeaders(answer.headers).removeHeader('transfer-encoding');
        response.writeHead(answer.status).end(await answer.text());
      },
    );
  });
}

describe('agent-gateway doctor', () => {
  it('leaves out what the key does not open, and says so', async () => {
    const env = { ...reaches(gateway), AGENT_GATEWAY_KEY: NARROW_KEY };
    const { code, out } = await runCli(['doctor'], { env });
    expect(code).toBe(0);
    const lines = steady(out).trimEnd().split('\n').slice(2);
    expect(lines).toEqual([
      '✓ key       the API key from AGENT_GATEWAY_KEY works; it opens shapes:read',
      expect.stringMatching(/runtime   the API key does not open it$/),
      expect.stringMatching(/registry  the API key does not open it$/),
      expect.stringMatching(/history   the API key does not open it$/),
      '✓ catalog   the sync engine answers, in N ms',
    ]);
  });

  it('says what the key opens, and warns where its profile needs less', async () => {
    const config = join(folder.path, 'config.json');
    const profiles = {
      wide: { url: gateway.url, key: API_KEY, scopes: 'commands+streams:read+shapes:read' },
      right: { url: gateway.url, key: NARROW_KEY, scopes: 'streams:read+shapes:read' },
    };
    await writeFile(config, JSON.stringify({ profiles }), { mode: 0o600 });
    const wide = await runCli(['doctor', '--config', config, '--profile', 'wide']);
    expect(wide).toMatchObject({ code: 0, err: '' });
    expect(wide.out.split('\n').slice(2, 5)).toEqual([
      '✓ key       the API key from the profile "wide" works; it opens everything',
      '! scopes    the key opens more than the profile says it needs: streams:write, streams:delete, registry:read, registry:write',
      '            → Make a key that opens no more: agent-gateway keys generate --name NAME --scopes commands+streams:read+shapes:read',
    ]);
    const right = await runCli(['doctor', '--config', config, '--profile', 'right']);
    expect(right).toMatchObject({ code: 0, err: '' });
    expect(right.out).not.toContain('scopes ');
  });

  it('changes nothing', async () => {
    const upstream = await startScriptedUpstream((_, response) => response.writeHead(404).end());
    await doctorOf({ GATEWAY_HISTORY_URL: upstream.url, GATEWAY_RUNTIME_ADMIN_URL: upstream.url });
    await upstream.stop();
    const changing = upstream.seen.filter(({ method }) => method !== 'GET');
    expect(changing.length).toBeGreaterThan(0);
    for (const { target } of changing) expect(target).toContain('/agent-gateway-doctor');
  });

  it('says of each part that it is well', async () => {
    const { code, out, err } = await runCli(['doctor'], { env: reaches(gateway) });
    expect({ code, err, out: steady(out) }).toEqual({
      code: 0,
      err: '',
      out: [
        `✓ gateway   ${gateway.url} (AGENT_GATEWAY_URL) answers, in N ms`,
        '✓ clock     the same time here and there',
        '✓ key       the API key from AGENT_GATEWAY_KEY works; it opens everything',
        '✓ runtime   Restate answers, in N ms',
        "✓ registry  Restate's admin API answers, in N ms; types",
        '✓ history   the history store answers, in N ms',
        '✓ catalog   the sync engine answers, in N ms',
        '✓ deployed  Restate reaches every deployment in use (1)',
        '✓ agents    none of them fails\n',
      ].join('\n'),
    });
  });

  // "Datafusion error: … connect throttled" was printed as the fault of the agents.
  it('asks Restate again while its nodes take over from each other', async () => {
    let refusals = 2;
    const admin = await startScriptedUpstream(({ url = '', method = '' }, response, body) => {
      if (url === '/query' && refusals-- > 0) {
        const message = 'Datafusion error: External error: connect throttled; 2.4s left';
        response.writeHead(500, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ message }));
        return;
      }
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      const sent = method === 'GET' ? {} : { body: new Uint8Array(body) };
      void fetch(restate.adminUrl + url, { method, headers, ...sent }).then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(await answer.text());
      });
    });
    const { out } = await doctorOf({
      GATEWAY_RUNTIME_INGRESS_URL: restate.ingressUrl,
      GATEWAY_RUNTIME_ADMIN_URL: admin.url,
    });
    await admin.stop();
    expect(out.split('\n').slice(-3)).toEqual([
      '✓ deployed  Restate reaches every deployment in use (1)',
      '✓ agents    none of them fails',
      '',
    ]);
    expect(refusals).toBeLessThanOrEqual(0);
  });

  it('names the servers that are not there and the settings that say where they are', async () => {
    const { code, out, err } = await runCli(['doctor'], { env: reaches(lonely) });
    const gone =
      '502 upstream_unreachable. The server behind this route could not be reached, so nothing was sent; try again. (request R)';
    expect({ code, err, out: steady(out) }).toEqual({
      code: 6,
      err: '',
      out: [
        `✓ gateway   ${lonely.url} (AGENT_GATEWAY_URL) answers, in N ms`,
        '✓ clock     the same time here and there',
        '✓ key       the API key from AGENT_GATEWAY_KEY works; it opens everything',
        `✗ runtime   ${gone}`,
        '            → Is Restate running, and is GATEWAY_RUNTIME_INGRESS_URL of the gateway right?',
        `✗ registry  ${gone}`,
        "            → Is Restate's admin API running, and is GATEWAY_RUNTIME_ADMIN_URL of the gateway right?",
        `✗ history   ${gone}`,
        '            → Is the history store running, and is GATEWAY_HISTORY_URL of the gateway right?',
        `✗ catalog   ${gone}`,
        '            → Is the sync engine running, and is GATEWAY_SYNC_URL of the gateway right?\n',
      ].join('\n'),
    });
  });

  // All was green: the Node server takes any path for a stream, so that its streams were elsewhere than everybody else's.
  it('warns of a history URL without the mount path', async () => {
    const { out } = await doctorOf({
      GATEWAY_RUNTIME_ADMIN_URL: restate.adminUrl,
      GATEWAY_HISTORY_URL: new URL(history.url).origin,
    });
    expect(steady(out)).toContain(
      [
        '✓ history   the history store answers, in N ms',
        '! mount     the history store takes its control plane, __ds, for a stream',
        '            → Has GATEWAY_HISTORY_URL of the gateway the mount path, such as /v1/stream? ' +
          'A store without subscriptions answers so, too.\n',
      ].join('\n'),
    );
  });

  // The admin API and the sync engine "answered".
  it('tells a web server that takes any path from the servers behind the gateway', async () => {
    const web = await startScriptedUpstream((_, response) => response.end());
    const { code, out } = await doctorOf({
      GATEWAY_RUNTIME_ADMIN_URL: web.url,
      GATEWAY_HISTORY_URL: web.url,
      GATEWAY_SYNC_URL: web.url,
    });
    await web.stop();
    expect(code).toBe(6);
    expect(out).toContain(
      '✗ history   200 without Stream-Next-Offset: what answers is no history store\n' +
        '            → Has GATEWAY_HISTORY_URL of the gateway the mount path of the store, such as /v1/stream?\n',
    );
    for (const [name, what, setting] of [
      ['registry', "Restate's admin API", 'RUNTIME_ADMIN'],
      ['catalog ', 'the sync engine', 'SYNC'],
    ]) {
      expect(out).toContain(
        `✗ ${name}  200, but what answers is not ${what}\n` +
          `            → Is GATEWAY_${setting}_URL of the gateway right?`,
      );
    }
  });

  // A 401 of the admin API was taken for one of the gateway: the doctor said that the key was wrong.
  it('names the settings of servers that refuse the gateway itself', async () => {
    const refusing = await startScriptedUpstream((_, response) => response.writeHead(401).end());
    const { code, out } = await doctorOf({
      GATEWAY_RUNTIME_INGRESS_URL: refusing.url,
      GATEWAY_RUNTIME_ADMIN_URL: refusing.url,
      GATEWAY_HISTORY_URL: refusing.url,
      GATEWAY_SYNC_URL: refusing.url,
    });
    await refusing.stop();
    expect(code).toBe(6);
    expect(out).toContain(
      '✓ key       the API key from AGENT_GATEWAY_KEY works; it opens everything',
    );
    expect(out.split('\n').filter((line) => line.includes('→'))).toEqual(
      ['RUNTIME_INGRESS_TOKEN', 'RUNTIME_ADMIN_TOKEN', 'HISTORY_TOKEN', 'SYNC_SECRET'].map(
        (credential) =>
          `            → Are GATEWAY_${credential.replace(/_[A-Z]+$/, '')}_URL and GATEWAY_${credential} ` +
          'of the gateway right? Its log says what arrived.',
      ),
    );
  });

  // It said that Restate answers, of a runtime that would take no command.
  it.each([
    ['classic', 'restate', '=classic; set it to restate, if GATEWAY_RUNTIME_INGRESS_URL is right.'],
    [
      'restate',
      'classic',
      '=restate, which Restate has from 1.7 on; with an older one, set it to classic.',
    ],
  ])('tells that GATEWAY_RUNTIME_API=%s meets a runtime of %s', async (api, only, says) => {
    const runtime = await startRuntimeOf(only);
    const doctorWith = (GATEWAY_RUNTIME_API: string) =>
      doctorOf({ GATEWAY_RUNTIME_INGRESS_URL: runtime.url, GATEWAY_RUNTIME_API });
    const ill = await doctorWith(api);
    const well = await doctorWith(only);
    await runtime.stop();
    expect(ill.code).toBe(6);
    expect(steady(ill.out).split('\n').slice(3, 5)).toEqual([
      '✗ runtime   404 entity_type_not_registered. The runtime does not have the paths of ' +
        `GATEWAY_RUNTIME_API${says} (request R)`,
      '            → No command arrives like this. Change GATEWAY_RUNTIME_API of the gateway, then restart it.',
    ]);
    expect(well.out).toContain('✓ runtime   Restate answers, in ');
  });

  it('says that the key is refused, or missing, and asks nothing more', async () => {
    const key = 'wrong-key-0123456789';
    const wrong = await runCli(['doctor', '--json'], {
      env: { AGENT_GATEWAY_URL: gateway.url, AGENT_GATEWAY_KEY: key },
    });
    const { ok, findings } = JSON.parse(wrong.out) as { ok: boolean; findings: object[] };
    expect({ code: wrong.code, err: wrong.err, ok }).toEqual({ code: 3, err: '', ok: false });
    expect(findings).toEqual([
      { name: 'gateway', state: 'ok', detail: expect.any(String) },
      { name: 'clock', state: 'ok', detail: expect.any(String) },
      {
        name: 'key',
        state: 'bad',
        detail: expect.stringMatching(/^401 invalid_credentials\. /),
        hint: 'The key came from AGENT_GATEWAY_KEY.',
      },
      ...['runtime', 'registry', 'history', 'catalog'].map((name) => ({
        name,
        state: 'skipped',
        detail: 'not asked without a key that works',
      })),
    ]);
    expect(wrong.out).not.toContain(key);
    const none = await runCli(['doctor', '--url', gateway.url]);
    expect(none).toMatchObject({ code: 3, err: '' });
    expect(none.out).toContain(
      '✗ key       there is none\n            → Give an API key or a read',
    );
  });

  it('knows a read token, and asks what it opens', async () => {
    const env = { AGENT_GATEWAY_URL: gateway.url };
    const shape = { table: 'entities', where: 'type = $1', params: { 1: 'chat' } };
    const both = await mintReadToken(READ_TOKEN_SECRET, {
      prefix: ['/streams/t/default', '/shapes/v1/shape'],
      ttlSeconds: 60,
      shape,
    });
    const well = await runCli(['doctor', '--key-file', '-'], { env, input: both });
    expect(well).toMatchObject({ code: 0, err: '' });
    expect(steady(well.out).split('\n').slice(2)).toEqual([
      expect.stringMatching(
        /^✓ key {7}the read token from the standard input works, until 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$/,
      ),
      '– runtime   not opened by this read token',
      '– registry  not opened by this read token',
      '✓ history   the history store answers, in N ms',
      '✓ catalog   the sync engine answers, in N ms',
      '',
    ]);
    const forged = await mintReadToken('x'.repeat(32), { prefix: '/streams', ttlSeconds: 60 });
    const ill = await runCli(['doctor', '--key-file', '-'], { env, input: forged });
    expect(ill).toMatchObject({ code: 3, err: '' });
    expect(ill.out).toContain(
      "✗ key       401 invalid_credentials. The read token's signature is not",
    );
    expect(ill.out).not.toContain(forged.slice(0, 20));
  });

  // Without quotes "Note" is note in SQL: a token that works was called one that does not.
  it('asks for the columns that a read token pins as they are written', async () => {
    const engine = await startScriptedUpstream((_, response) =>
      response.writeHead(200, { 'electric-handle': '1' }).end('[]'),
    );
    const own = await startTestGateway({ GATEWAY_SYNC_URL: engine.url });
    const token = await mintReadToken(READ_TOKEN_SECRET, {
      prefix: '/shapes/v1/shape',
      ttlSeconds: 60,
      shape: { table: 'entities', columns: ['url', 'Note'] },
    });
    const env = { AGENT_GATEWAY_URL: own.url };
    const { code } = await runCli(['doctor', '--key-file', '-'], { env, input: token });
    await own.stop();
    await engine.stop();
    const asked = engine.seen.map(({ target }) => new URLSearchParams(target.split('?')[1]));
    expect([code, ...asked.map((query) => query.get('columns'))]).toEqual([0, '"url","Note"']);
  });

  it('tells how far the clocks are apart', async () => {
    let offsetMs = 0;
    const server = await startScriptedUpstream((_, response) => {
      const date = new Date(Date.now() + offsetMs).toUTCString();
      response.writeHead(200, { date }).end('{"status":"ok"}');
    });
    for (const [ofGatewayMs, clock] of [
      [-3_600_000, /^✗ clock {5}3(599|600|601) s ahead of the gateway's$/],
      [3_600_000, /^✗ clock {5}3(599|600|601) s behind the gateway's$/],
      [5_000, /^✓ clock {5}[456] s behind the gateway's$/],
    ] as const) {
      offsetMs = ofGatewayMs;
      const { code, out } = await runCli(['doctor'], { env: reaches(server) });
      expect(out.split('\n')[1]).toMatch(clock);
      expect(code).toBe(1);
    }
    await server.stop();
  });

  // It asked whether a firewall lets one through.
  it('says of a certificate that is not trusted what to do', async () => {
    const server = await listening(createServer(TLS_IDENTITY));
    const url = `https://127.0.0.1:${server.port}`;
    const { code, out } = await runCli(['doctor'], { env: reaches({ url }) });
    await server.stop();
    expect([code, ...out.split('\n').slice(0, 2)]).toEqual([
      6,
      `✗ gateway   ${url} (AGENT_GATEWAY_URL): its certificate is not accepted (DEPTH_ZERO_SELF_SIGNED_CERT).`,
      '            → Where it is of an authority of your own, name its certificate in NODE_EXTRA_CA_CERTS.',
    ]);
  });

  it('says that nothing is at the address, or something else', async () => {
    const server = await startScriptedUpstream((_, response) => response.end('<html>'));
    const other = await runCli(['doctor'], { env: reaches(server) });
    await server.stop();
    const nothing = await runCli(['doctor'], { env: reaches(server) });
    expect([other.code, nothing.code]).toEqual([6, 6]);
    expect(other.out.split('\n').slice(0, 3)).toEqual([
      `✗ gateway   ${server.url} (AGENT_GATEWAY_URL): this is no agent gateway`,
      '            → Something else answers at this address.',
      '– key       not asked without a gateway',
    ]);
    expect(nothing.out.split('\n')[0]).toBe(
      `✗ gateway   ${server.url} (AGENT_GATEWAY_URL): the connection is refused (ECONNREFUSED).`,
    );
    for (const { out, err } of [other, nothing]) expect(`${out}${err}`).not.toContain(API_KEY);
  });
});
