import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { traceConfig } from '../../src/platform/tracing/trace-settings.ts';
import {
  at,
  CHART,
  DEFAULT_VALUES,
  environmentIn,
  gatewayIn,
  minimal,
  objectOf,
  render,
  type Tree,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';
import {
  documentedValues,
  leafValues,
  SCHEMA,
  schemaOf,
  type Schema,
} from './documented-values.ts';
import { environmentDefaults } from '../support/environment-defaults.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Settings that the chart takes from `secrets` instead of `settings`. */
const SECRETS = [
  'GATEWAY_API_KEYS',
  'GATEWAY_READ_TOKEN_SECRETS',
  'GATEWAY_RUNTIME_INGRESS_TOKEN',
  'GATEWAY_RUNTIME_ADMIN_TOKEN',
  'GATEWAY_HISTORY_TOKEN',
  'GATEWAY_SYNC_SECRET',
].flatMap((name) => [name, `${name}_FILE`]);
/** A pod has an address of its own, and shares its port with nobody. */
const NOT_OF_A_POD = ['GATEWAY_REUSE_PORT'];
/** Addresses that must be set, because the gateway's default is the local machine. */
const UPSTREAM_URLS = ['runtimeIngressUrl', 'runtimeAdminUrl', 'historyUrl', 'syncUrl'];
/** Defaults of the chart's own: behind a load balancer of a cloud the gateway tells it that it drains. */
const OWN_DEFAULTS = new Map<string, unknown>([['GATEWAY_HEALTH_FAILS_ON_DRAIN', true]]);
/** Numbers that the gateway derives from the container's memory if they are not set. */
const CAPS_BY_MEMORY = [
  'maxConnections',
  'maxOpenReads',
  'maxOpenReadsPerCredential',
  'maxOpenReadsPerSubject',
];

export async function checkSettings(checks: Checks): Promise<void> {
  const settings = DEFAULT_VALUES.settings as Tree;

  await checks.check('every setting of the gateway is a value, with the same default', () => {
    const ofGateway = environmentDefaults();
    for (const name of [...SECRETS, ...NOT_OF_A_POD]) {
      assert.ok(ofGateway.delete(name), `${name} is no setting`);
    }
    const ofChart = new Map(
      Object.entries(settings).map(([setting, value]) => [
        variable(setting),
        UPSTREAM_URLS.includes(setting) ? ofGateway.get(variable(setting)) : (value ?? undefined),
      ]),
    );
    for (const [name, value] of OWN_DEFAULTS) {
      assert.equal(ofChart.get(name), value, name);
      ofChart.delete(name);
      assert.ok(ofGateway.delete(name), `${name} is no setting`);
    }
    assert.deepEqual(sorted(ofChart), sorted(ofGateway));
  });

  await checks.check('every setting reaches the gateway as its environment variable', () => {
    const given = Object.fromEntries(
      Object.entries(settings).map(([setting, value]) => [setting, sample(setting, value)]),
    );
    const environment = environmentOf({ settings: given, terminationGracePeriodSeconds: 99_999 });
    for (const [setting, value] of Object.entries(given)) {
      assert.equal(environment.get(variable(setting)), String(value), setting);
    }
  });

  await checks.check('a setting that is null is left to the gateway', () => {
    const environment = environmentOf({ settings: { maxBodyBytes: null } });
    assert.ok(!environment.has('GATEWAY_MAX_BODY_BYTES'));
    assert.ok(!environment.has('GATEWAY_PUBLIC_URL'));
  });

  // 50,000 connections and 40,000 reads were set in each pod: one of 1 GiB was killed long before.
  await checks.check('without values neither caps nor tracing are set', () => {
    const names = [...environmentOf().keys()];
    const caps = CAPS_BY_MEMORY.map(variable);
    const set = names.filter((name) => caps.includes(name) || !name.startsWith('GATEWAY_'));
    assert.deepEqual(set, []);
  });

  await checks.check('an empty tenant column, which means no fence, is passed on', () => {
    const environment = environmentOf({ settings: { shapesTenantColumn: '' } });
    assert.equal(environment.get('GATEWAY_SHAPES_TENANT_COLUMN'), '');
  });

  await checks.check('the gateway takes what the chart makes of the values of tracing', () => {
    const tracing = {
      endpoint: 'https://collector.example/otlp',
      sampleRatio: 0.00001,
      resourceAttributes: { 'team/owner': 'a b+c,d=é' },
    };
    const environment = environmentOf({ tracing });
    const problems: string[] = [];
    const texts = [...environment].flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    const config = traceConfig(Object.fromEntries(texts), String, problems);
    assert.deepEqual(problems, []);
    assert.equal(config?.collector.url, 'https://collector.example/otlp/v1/traces');
    assert.equal(config.sampler, 'parentbased_traceidratio');
    assert.equal(config.samplerRatio, 0.00001);
    assert.equal(config.resourceAttributes['k8s.pod.name'], '$(K8S_POD_NAME)');
    assert.equal(config.resourceAttributes['team/owner'], 'a b+c,d=é');
    // Kubernetes puts a value in its place only where its variable stands before.
    const names = [...environment.keys()];
    for (const name of ['K8S_POD_NAME', 'K8S_NODE_NAME']) {
      assert.ok(names.indexOf(name) < names.indexOf('OTEL_RESOURCE_ATTRIBUTES'), name);
    }
  });

  await checks.check('ports of the settings are those of container, probes and Services', () => {
    const objects = render(minimal({ settings: { port: 9001, managementPort: 9002 } }));
    assert.deepEqual(gatewayIn(objects).ports, [
      { name: 'http', containerPort: 9001, protocol: 'TCP' },
      { name: 'management', containerPort: 9002, protocol: 'TCP' },
    ]);
    const management = objectOf(objects, 'Service', 'gw-agent-gateway-management');
    assert.equal(at(management, 'spec.ports.0.port'), 9002);
  });

  await checks.check('every value has a comment', () => {
    const documented = documentedValues();
    const without = leafValues().filter(
      (leaf) => !documented.some((path) => leaf === path || leaf.startsWith(`${path}.`)),
    );
    assert.deepEqual(without, []);
  });

  await checks.check('every value has an entry in the schema, and every entry is a value', () => {
    assert.deepEqual(schemaPaths(SCHEMA).sort(), documentedValues().flatMap(withinSchema).sort());
  });

  await checks.check('the chart is of the version of the project', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      version: string;
    };
    const chart = readFileSync(join(CHART, 'Chart.yaml'), 'utf8');
    assert.match(chart, new RegExp(`^appVersion: ["']?${version}["']?$`, 'm'));
  });
}

function environmentOf(above?: Tree): Map<string, unknown> {
  return environmentIn(render(minimal(above)));
}

function variable(setting: string): string {
  return `GATEWAY_${setting.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

/** A valid value that is not the default. */
function sample(setting: string, value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (setting === 'maxConnections') return 8;
  if (CAPS_BY_MEMORY.includes(setting)) return 7;
  if (typeof value === 'boolean') return !value;
  if (setting.endsWith('Url')) return `https://${setting.toLowerCase()}.example/base`;
  if (setting === 'host') return '::';
  if (setting === 'logLevel') return 'debug';
  if (setting === 'runtimeApi') return 'classic';
  if (setting === 'auditFile') return '/var/log/audit.log';
  if (setting === 'trustedProxies') return '10.0.0.0/8, fd00::/8';
  if (setting === 'runtimeKeyTemplate') return '{tenant}/{id}';
  return 'other';
}

function sorted(map: Map<string, unknown>): [string, unknown][] {
  return [...map].sort(([a], [b]) => a.localeCompare(b));
}

/** The paths of the schema's entries that have no entries of their own; each level must be closed. */
function schemaPaths(schema: Schema, above = ''): string[] {
  // Charts that are installed together have values of their own there.
  const isOpen = above === 'global.';
  assert.equal(schema.additionalProperties, isOpen ? undefined : false, above);
  return Object.entries(schema.properties ?? {}).flatMap(([key, entry]) =>
    entry.properties ? schemaPaths(entry, `${above}${key}.`) : [`${above}${key}`],
  );
}

/** A value with one comment may have further entries in the schema. */
function withinSchema(path: string): string[] {
  const entry = schemaOf(path.split('.'));
  return entry?.properties ? schemaPaths(entry, `${path}.`) : [path];
}
