import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../test/support/thrown.ts';
import { ConfigError } from './config-error.ts';
import { Environment } from './environment.ts';
import type { GatewayConfig } from './gateway-config.ts';
import { loadConfig as loadConfigWith } from './load-config.ts';

const API_KEY = 'an-api-key-0123456789';
const REQUIRED = { GATEWAY_API_KEYS: API_KEY };
/** What follows from the memory of a large machine. */
const PLAN = { maxOpenReads: 40_000, maxConnections: 50_000, maxHeldBytes: 1_000_000_000 };

const loadConfig = (
  env: Record<string, string>,
  readFile?: (path: string) => string,
): ReturnType<typeof loadConfigWith> => loadConfigWith(env, readFile, PLAN);

function problemsOf(env: Record<string, string>): string[] {
  return thrown(ConfigError, () => loadConfig(env))?.problems ?? [];
}

interface Setting {
  name: keyof Environment;
  value: (config: GatewayConfig) => unknown;
  default: unknown;
  /** What may be set, and what it is taken for. */
  good: [text: string, value: unknown][];
  bad: string[];
  /** What a bad one must look like. */
  must: string;
}

type Name = Setting['name'];
type Value = Setting['value'];

const asTheyAre = (...texts: string[]): Setting['good'] => texts.map((text) => [text, text]);

function numberSetting(
  name: Name,
  value: Value,
  byDefault: number,
  [min, max]: [number, number],
): Setting {
  const outside = [String(max + 1), ...(min > 0 ? [String(min - 1)] : [])];
  return {
    name,
    value,
    default: byDefault,
    good: [min, max].map((limit) => [String(limit), limit]),
    bad: [...outside, '-1', '1.5', '1e3', '0x10', '5.0', ' 8 ', 'http://10.0.0.1:80'],
    must: `must be a whole number from ${min} to ${max}`,
  };
}

function booleanSetting(name: Name, value: Value, byDefault: boolean): Setting {
  return {
    name,
    value,
    default: byDefault,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['yes', 'TRUE', 'FALSE', '1', '0', ' true', 'off'],
    must: 'must be true or false',
  };
}

function urlSetting(name: Name, value: Value, byDefault: string | undefined): Setting {
  return {
    name,
    value,
    default: byDefault,
    good: [
      ['https://host', 'https://host'],
      ['http://host:1234/', 'http://host:1234'],
      ['http://[::1]:8080/some/mount/', 'http://[::1]:8080/some/mount'],
    ],
    bad: [
      'host:8080',
      '/v1/stream',
      'http:host',
      'http:/host',
      'http://',
      'ftp://host',
      'http://user:password@host',
      'http://host?x=1',
      'http://host?',
      'http://host#x',
      'http://host:99999',
      'http://host//x',
      'http://host/a b',
      String.raw`http://host\x`,
    ],
    must:
      'must be an http or https URL without user name, query or fragment, ' +
      'such as http://host:1234/path',
  };
}

function bearerSetting(name: Name, value: Value): Setting {
  return {
    name,
    value,
    default: undefined,
    good: asTheyAre('key_!~'),
    bad: ['two words', 'line\nbreak', 'schlüssel'],
    must: 'must be visible ASCII characters without spaces, as a bearer credential is',
  };
}

const SETTINGS: Setting[] = [
  {
    name: 'GATEWAY_HOST',
    value: (config) => config.host,
    default: undefined,
    good: asTheyAre('127.0.0.1', '::', 'localhost'),
    bad: ['http://localhost', 'a b', 'host/'],
    must: 'must be an IP address or a host name to listen on',
  },
  numberSetting('GATEWAY_PORT', (config) => config.port, 8787, [0, 65_535]),
  numberSetting('GATEWAY_MANAGEMENT_PORT', (config) => config.managementPort, 8788, [0, 65_535]),
  urlSetting('GATEWAY_PUBLIC_URL', (config) => config.publicUrl, undefined),
  {
    name: 'GATEWAY_TENANT',
    value: (config) => config.tenant,
    default: 'default',
    good: asTheyAre('acme', '0_A-b', 'a'.repeat(63)),
    bad: ['-acme', 'a/b', 'a b', 'a.b', 'a'.repeat(64), 'acme\n'],
    must: 'must be 1 to 63 letters, digits, underscores or hyphens, the first a letter or a digit',
  },
  {
    name: 'GATEWAY_READ_TOKEN_JWKS',
    value: (config) => config.readTokens.jwks,
    default: undefined,
    good: asTheyAre('/etc/keys.json', 'keys.json', 'https://issuer.example/keys', 'http://issuer'),
    bad: ['ftp://issuer', 'file:///etc/keys', 'https://user:password@issuer', 'https://'],
    must: 'must be a file path or an http(s) URL without user name',
  },
  numberSetting(
    'GATEWAY_READ_TOKEN_MAX_TTL_SECONDS',
    (config) => config.readTokens.maxTtlSeconds,
    86_400,
    [1, 31_536_000],
  ),
  urlSetting(
    'GATEWAY_RUNTIME_INGRESS_URL',
    (config) => config.runtime.ingressUrl,
    'http://localhost:8080',
  ),
  urlSetting(
    'GATEWAY_RUNTIME_ADMIN_URL',
    (config) => config.runtime.adminUrl,
    'http://localhost:9070',
  ),
  bearerSetting(
    'GATEWAY_RUNTIME_INGRESS_TOKEN',
    (config) => config.runtime.ingressToken.entries[0],
  ),
  bearerSetting('GATEWAY_RUNTIME_ADMIN_TOKEN', (config) => config.runtime.adminToken.entries[0]),
  {
    name: 'GATEWAY_RUNTIME_KEY_TEMPLATE',
    value: (config) => config.runtime.keyTemplate,
    default: '{id}',
    good: asTheyAre('{tenant}/{type}:{id}', 'x-{id}'),
    bad: ['{type}', 'fixed', '{id}{other}', '{id}}', '{id}\n'],
    must: 'must hold {id}, and may hold {tenant} and {type}; no other braces',
  },
  {
    name: 'GATEWAY_RUNTIME_API',
    value: (config) => config.runtime.api,
    default: 'restate',
    good: asTheyAre('classic', 'restate'),
    bad: ['Restate', 'restate,classic', '1.7', ' restate'],
    must: 'must be one of classic, restate',
  },
  urlSetting(
    'GATEWAY_HISTORY_URL',
    (config) => config.history.url,
    'http://localhost:4437/v1/stream',
  ),
  bearerSetting('GATEWAY_HISTORY_TOKEN', (config) => config.history.token.entries[0]),
  urlSetting('GATEWAY_SYNC_URL', (config) => config.sync.url, 'http://localhost:3000'),
  {
    name: 'GATEWAY_SYNC_SECRET',
    value: (config) => config.sync.secret.entries[0],
    default: undefined,
    good: asTheyAre('any thing & more'),
    bad: [],
    must: '',
  },
  {
    name: 'GATEWAY_SHAPES_TABLES',
    value: (config) => config.shapes.tables,
    default: ['entities'],
    good: [
      ['*', '*'],
      ['entities, public.runs ,', ['entities', 'public.runs']],
    ],
    bad: [',', ' '],
    must: 'must be comma-separated table names, or * for all',
  },
  {
    name: 'GATEWAY_SHAPES_TENANT_COLUMN',
    value: (config) => config.shapes.tenantColumn,
    default: 'tenant',
    good: asTheyAre('org', ''),
    bad: ['a"b', 'a\nb', 'a'.repeat(64)],
    must: 'must be a column name without double quotes, or empty for no fence',
  },
  numberSetting(
    'GATEWAY_MAX_BODY_BYTES',
    (config) => config.maxBodyBytes,
    1_048_576,
    [1, 1_073_741_824],
  ),
  {
    name: 'GATEWAY_CORS_ALLOW_ORIGINS',
    value: (config) => config.corsOrigins,
    default: '*',
    good: [
      ['*', '*'],
      ['https://a.example, http://b:81', ['https://a.example', 'http://b:81']],
      // A page in an app: the start was refused, and only * would do.
      ...['capacitor://localhost', 'chrome-extension://abcdef', 'tauri://localhost:1420'].map(
        (origin): [string, string[]] => [origin, [origin]],
      ),
    ],
    bad: [
      'capacitor://localhost/',
      'capacitor://LOCALHOST',
      'capacitor://*',
      'capacitor://user@localhost',
      'capacitor:localhost',
      'capacitor://',
      'file://host',
      'file://',
      'a.example',
      'https://A.example',
      'https://a.example/',
      'https://a.example:443',
      'https://*.example',
      '*,https://a.example',
      // All origins must be meant, not what is left of a list.
      '*,',
      ',*',
      'null',
      ',',
    ],
    must:
      'must be * or comma-separated exact origins such as https://app.example ' +
      '(lower case, no path, no trailing slash, no default port)',
  },
  booleanSetting('GATEWAY_REUSE_PORT', (config) => config.reusePort, false),
  booleanSetting('GATEWAY_SHARED_READS', (config) => config.sharedReads, true),
  booleanSetting('GATEWAY_HEALTH_FAILS_ON_DRAIN', (config) => config.healthFailsOnDrain, false),
  numberSetting(
    'GATEWAY_MAX_CONNECTIONS',
    (config) => config.limits.maxConnections,
    50_000,
    [1, 10_000_000],
  ),
  numberSetting(
    'GATEWAY_MAX_OPEN_READS',
    (config) => config.limits.maxOpenReads,
    40_000,
    [1, 10_000_000],
  ),
  numberSetting(
    'GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL',
    (config) => config.limits.maxOpenReadsPerCredential,
    20_000,
    [1, 10_000_000],
  ),
  numberSetting(
    'GATEWAY_MAX_OPEN_READS_PER_SUBJECT',
    (config) => config.limits.maxOpenReadsPerSubject,
    1_250,
    [1, 10_000_000],
  ),
  numberSetting(
    'GATEWAY_CLIENT_STALL_TIMEOUT_MS',
    (config) => config.timeouts.clientStallMs,
    60_000,
    [1, 86_400_000],
  ),
  numberSetting(
    'GATEWAY_UPSTREAM_STALL_TIMEOUT_MS',
    (config) => config.timeouts.upstreamStallMs,
    60_000,
    [1, 86_400_000],
  ),
  numberSetting(
    'GATEWAY_RATE_LIMIT_PER_SECOND',
    (config) => config.limits.requestsPerSecond,
    0,
    [0, 1_000_000],
  ),
  numberSetting(
    'GATEWAY_RUNTIME_OUTAGE_WAIT_MS',
    (config) => config.timeouts.outageWaitMs,
    3000,
    [0, 86_400_000],
  ),
  numberSetting(
    'GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS',
    (config) => config.timeouts.connectMs,
    2000,
    [1, 600_000],
  ),
  numberSetting(
    'GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS',
    (config) => config.timeouts.responseMs,
    15_000,
    [1, 86_400_000],
  ),
  numberSetting(
    'GATEWAY_LIVE_TIMEOUT_MS',
    (config) => config.timeouts.liveMs,
    120_000,
    [1, 86_400_000],
  ),
  numberSetting(
    'GATEWAY_DRAIN_TIMEOUT_MS',
    (config) => config.timeouts.drainMs,
    25_000,
    [0, 86_400_000],
  ),
  {
    name: 'GATEWAY_LOG_LEVEL',
    value: (config) => config.logLevel,
    default: 'info',
    good: asTheyAre('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    bad: ['INFO', 'verbose'],
    must: 'must be one of trace, debug, info, warn, error, fatal, silent',
  },
  booleanSetting('GATEWAY_AUDIT_LOG', (config) => config.auditLog, true),
  {
    name: 'GATEWAY_AUDIT_FILE',
    value: (config) => config.auditFile,
    default: undefined,
    good: asTheyAre('/var/log/agent-gateway/audit.log'),
    bad: ['audit.log', './audit.log', '/var/log/', '/'],
    must: 'must be the absolute path of a file',
  },
  {
    name: 'GATEWAY_TRUSTED_PROXIES',
    value: (config) => config.trustedProxies?.rules.toSorted(),
    default: undefined,
    good: [
      ['10.0.0.0/8', ['Subnet: IPv4 10.0.0.0/8']],
      [
        '127.0.0.1, ::1,fd00::/8',
        ['Subnet: IPv4 127.0.0.1/32', 'Subnet: IPv6 ::1/128', 'Subnet: IPv6 fd00::/8'],
      ],
    ],
    // With all addresses every client could write its own. A mapped IPv4 address is compared as IPv4.
    bad: [
      '*',
      'true',
      'localhost',
      '10.0.0',
      '10.0.0.0/33',
      'fd00::/129',
      '10.0.0.0/08',
      '10.0.0.0/8/8',
      '10.0.0.1:80',
      '0.0.0.0/0',
      '::/0',
      '::ffff:10.0.0.0/104',
      ',',
    ],
    must: 'must be comma-separated addresses or nets such as 10.0.0.0/8 or fd00::/8, never all addresses',
  },
];
/** `secret-lists.spec.ts` has more of these. */
const LISTS = ['GATEWAY_API_KEYS', 'GATEWAY_READ_TOKEN_SECRETS'];
/** `secret-source.spec.ts` has these. */
const CREDENTIAL_FILES = [
  'GATEWAY_RUNTIME_INGRESS_TOKEN_FILE',
  'GATEWAY_RUNTIME_ADMIN_TOKEN_FILE',
  'GATEWAY_HISTORY_TOKEN_FILE',
  'GATEWAY_SYNC_SECRET_FILE',
];

describe('loadConfig', () => {
  it('is tested here for every setting there is', () => {
    const tested = [
      ...SETTINGS.map(({ name }) => name),
      ...LISTS,
      ...LISTS.map((l) => `${l}_FILE`),
      ...CREDENTIAL_FILES,
    ];
    expect(new Set(Object.keys(new Environment()))).toEqual(new Set(tested));
  });

  it('lets connections be as many as the open reads that are asked for', () => {
    const { limits } = loadConfig({ ...REQUIRED, GATEWAY_MAX_OPEN_READS: '60000' });
    expect(limits).toMatchObject({
      maxOpenReads: 60_000,
      maxOpenReadsPerCredential: 30_000,
      maxConnections: 60_000,
    });
  });

  it.each([
    ['1', 1],
    ['7', 1],
    ['100', 25],
    ['264', 64],
    ['2048', 64],
    ['2113', 66],
    ['60000', 1_875],
  ])('of %s open reads gives one subject 1/32 or 64, and a quarter at most: %i', (reads, ofOne) => {
    const { limits } = loadConfig({ ...REQUIRED, GATEWAY_MAX_OPEN_READS: reads });
    expect(limits.maxOpenReadsPerSubject).toBe(ofOne);
  });

  it('takes the number of reads of one subject as it is set', () => {
    const { limits } = loadConfig({
      ...REQUIRED,
      GATEWAY_MAX_OPEN_READS: '100',
      GATEWAY_MAX_OPEN_READS_PER_SUBJECT: '90',
    });
    expect(limits.maxOpenReadsPerSubject).toBe(90);
  });

  it.each([
    ['400', 100],
    ['401', 101],
    ['1', 1],
  ])('gives commands a quarter of %s connections', (connections, commands) => {
    const { limits } = loadConfig({ ...REQUIRED, GATEWAY_MAX_CONNECTIONS: connections });
    expect(limits.maxOpenCommands).toBe(commands);
  });

  it('needs nothing but an API key', () => {
    expect(problemsOf(REQUIRED)).toEqual([]);
    expect(problemsOf({})).toEqual([
      'GATEWAY_API_KEYS is required: one or more comma-separated keys of at least 16 characters, ' +
        'or sha256:<64 hex digits> of one; or GATEWAY_API_KEYS_FILE, a file with one entry a line',
    ]);
  });

  describe.each(SETTINGS)('$name', ({ name, value, default: defaultValue, good, bad, must }) => {
    it('has its default when unset, and when empty unless that means something', () => {
      expect(value(loadConfig(REQUIRED))).toEqual(defaultValue);
      if (good.some(([text]) => text === '')) return;
      expect(value(loadConfig({ ...REQUIRED, [name]: '' }))).toEqual(defaultValue);
    });

    it.each(good)('takes %j', (text, expected) => {
      expect(value(loadConfig({ ...REQUIRED, [name]: text }))).toEqual(expected);
    });

    if (bad.length > 0) {
      it.each(bad)('refuses %j and says what it must be', (text) => {
        expect(problemsOf({ ...REQUIRED, [name]: text })).toEqual([`${name} ${must}`]);
      });
    }
  });

  it('refuses one port for both the public and the management routes, but for 0', () => {
    const same = (port: string) => ({ GATEWAY_PORT: port, GATEWAY_MANAGEMENT_PORT: port });
    expect(problemsOf({ ...REQUIRED, ...same('9000') })).toEqual([
      'GATEWAY_MANAGEMENT_PORT must be another port than GATEWAY_PORT',
    ]);
    expect(problemsOf({ ...REQUIRED, ...same('0') })).toEqual([]);
  });

  // The bare "must be a whole number" left an operator with a variable that they had never set.
  it.each([
    ['GATEWAY_PORT', 'gateway'],
    ['GATEWAY_MANAGEMENT_PORT', 'gateway-management'],
  ])('says of a %s that Kubernetes has set where it comes from', (name, service) => {
    expect(problemsOf({ ...REQUIRED, [name]: 'tcp://10.0.0.1:8787' })).toEqual([
      `${name} must be a whole number from 0 to 65535; ` +
        `Kubernetes sets it to a URL for the Service "${service}": ` +
        'set enableServiceLinks: false in the pod, or set the port yourself',
    ]);
  });

  // Without the check a start on macOS ended with "ENOTSUP", which names no setting.
  it.each(['darwin', 'freebsd', 'win32'] as const)('refuses to share a port on %s', (platform) => {
    const start = (shares: string): unknown =>
      loadConfigWith({ ...REQUIRED, GATEWAY_REUSE_PORT: shares }, undefined, PLAN, platform);
    expect(() => start('true')).toThrow(
      'GATEWAY_REUSE_PORT must be false on this system: only Linux can share a port',
    );
    expect(() => start('false')).not.toThrow();
  });

  it('reports every problem at once, in a message that repeats no value', () => {
    const wrong = SETTINGS.flatMap(({ name, bad }) =>
      bad[0] === undefined ? [] : [[name, bad[0]]],
    );
    const env = {
      ...Object.fromEntries(wrong),
      GATEWAY_API_KEYS: 'too-short-key',
      GATEWAY_READ_TOKEN_SECRETS: 'too-short-secret',
      GATEWAY_RUNTIME_ADMIN_TOKEN: 'runtime token with spaces',
      GATEWAY_HISTORY_URL: 'http://user:url-password@history',
    };
    const problems = problemsOf(env);

    const named = problems.map((problem) => problem.split(' ', 1)[0] ?? '');
    expect(named).toHaveLength(wrong.length + LISTS.length);
    expect(new Set(named)).toEqual(new Set([...wrong.map(([name]) => name), ...LISTS]));
    const { message } = new ConfigError(problems);
    expect(message).toBe(
      `the gateway cannot start, ${problems.length} settings are wrong:\n` +
        problems.map((problem) => `  - ${problem}`).join('\n'),
    );
    expect(message).not.toMatch(/too-short|with spaces|url-password/);
  });

  it('leaves alone what is not a setting of its own', () => {
    expect(
      problemsOf({ ...REQUIRED, PORT: 'x', GATEWAY_SERVICE_PORT: 'tcp://x', HOME: '' }),
    ).toEqual([]);
  });
});
