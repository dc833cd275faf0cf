import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Tree } from './chart.ts';
import { memoryPlan } from '../../src/contract/memory-plan.ts';
import type { Checks } from '../support/checks.ts';
import { report } from './report.ts';
import { moduleFolder } from './schemas.ts';
import { findTool, runTool } from './tools.ts';
import { parseYaml } from './yaml.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILE = join(ROOT, 'deploy/compose.yaml');
const CLUSTER = join(ROOT, 'deploy/compose.cluster.yaml');
const COMPOSE = 'github.com/compose-spec/compose-go/v2@v2.16.2';
const SECRETS = [
  'API_KEY',
  'AGENTS_API_KEY',
  'REGISTER_API_KEY',
  'READ_TOKEN_SECRET',
  'ELECTRIC_SECRET',
  'POSTGRES_PASSWORD',
  'ELECTRIC_DATABASE_PASSWORD',
  'ROWS_DATABASE_PASSWORD',
];

interface Service extends Tree {
  image: string;
  ports?: string[];
  networks?: string[];
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: Tree;
  restart?: string;
  volumes?: string[];
}

/** Checks `deploy/compose.yaml` against its schema and the promises of its header. The test cannot run it. */
export async function checkCompose(checks: Checks): Promise<void> {
  const project = parseYaml(readFileSync(FILE, 'utf8')) as Tree & {
    services: Record<string, Service>;
    volumes: Tree;
    networks: Record<string, Tree>;
  };
  const services = Object.entries(project.services);

  await checks.check('compose.yaml is valid by Compose’s own schema', () => {
    const schema = join(moduleFolder(COMPOSE), 'schema/compose-spec.json');
    const validate = validator(JSON.parse(readFileSync(schema, 'utf8')) as Tree);
    assert.deepEqual(validate(project), []);
    assert.notDeepEqual(validate({ services: { gateway: { imgae: 'x' } } }), []);
  });
  await checks.check('only the gateway publishes a port, and is on the outer network', () => {
    const open = services.filter(([, service]) => service.ports !== undefined);
    assert.deepEqual(
      open.map(([name]) => name),
      ['gateway'],
    );
    const outer = services.filter(([, { networks }]) => networks !== undefined);
    assert.deepEqual(
      outer.map(([name, { networks }]) => [name, networks]),
      [['gateway', ['default', 'outside']]],
    );
    assert.equal(project.networks.default?.internal, true);
  });
  await checks.check('every service waits for the health of what it needs', () => {
    for (const [name, { depends_on: needs = {} }] of services) {
      for (const [needed, { condition }] of Object.entries(needs)) {
        if (endsBySelf(project.services[needed])) continue;
        assert.equal(condition, 'service_healthy', `${name} on ${needed}`);
        const isAsked = project.services[needed]?.healthcheck !== undefined;
        // Electric's image brings a health check of its own.
        assert.ok(isAsked || needed === 'electric', needed);
      }
    }
    assert.deepEqual(Object.keys(project.services.gateway?.depends_on ?? {}).sort(), [
      'electric',
      'history',
      'restate',
    ]);
  });
  // `up --wait` failed whenever `register` was done first, which is always: it takes an end for a failure, but for that of
  // a container for whose end another one waits.
  await checks.check('what ends by itself has somebody that waits for its end', () => {
    const ending = services.filter(([, service]) => endsBySelf(service)).map(([name]) => name);
    assert.deepEqual(ending, ['register']);
    const awaited = services.flatMap(([, { depends_on: needs = {} }]) =>
      Object.entries(needs)
        .filter(([, { condition }]) => condition === 'service_completed_successfully')
        .map(([needed]) => needed),
    );
    assert.deepEqual([...new Set(awaited)], ending);
  });
  await checks.check('what keeps data has a volume, and no service has a privilege', () => {
    assert.deepEqual(Object.keys(project.volumes).sort(), [
      'electric',
      'history',
      'postgres',
      'restate',
    ]);
    for (const [name, service] of services) {
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
    }
  });
  await checkImages(checks, services);
  await checks.check('nobody but Postgres itself has the password of its superuser', () => {
    const all = services.filter(([, { environment }]) => environment !== undefined);
    const has = all.filter(([, { environment }]) =>
      /POSTGRES_PASSWORD/.test(JSON.stringify(environment)),
    );
    assert.deepEqual(
      has.map(([name]) => name),
      ['postgres'],
    );
  });
  await checks.check('the gateway refuses reads before Electric does', () => {
    const limit = project.services.electric?.environment.ELECTRIC_MAX_CONCURRENT_REQUESTS ?? '';
    const { existing } = JSON.parse(limit) as { existing: number };
    const { maxOpenReads } = memoryPlan(2 ** 40, 2 ** 40);
    assert.ok(existing > maxOpenReads, `${existing} is not above ${maxOpenReads}`);
  });
  await checks.check('the credential of the admin API is not that of the ingress', () => {
    const { GATEWAY_RUNTIME_ADMIN_TOKEN: admin, GATEWAY_RUNTIME_INGRESS_TOKEN: ingress } =
      project.services.gateway?.environment ?? {};
    assert.equal(admin, '${RUNTIME_ADMIN_TOKEN:-}');
    assert.equal(ingress, '${RUNTIME_INGRESS_TOKEN:-}');
  });
  await checks.check(
    'every variable is a secret that make-secrets.sh makes, or has a default',
    () => {
      const variables = readFileSync(FILE, 'utf8').matchAll(/\$\{(\w+)(:-)?/g);
      const needed = [...variables]
        .filter(([, , hasDefault]) => !hasDefault)
        .map(([, name]) => name);
      assert.deepEqual(new Set(needed), new Set(SECRETS));
      const script = readFileSync(join(ROOT, 'deploy/make-secrets.sh'), 'utf8');
      assert.ok(script.includes(`for name in ${SECRETS.join(' ')}; do`));
    },
  );
  await checkCluster(checks, project.services);
  await checkConfig(checks);
}

/** Checks the file that is laid over the other one for three nodes of Restate. */
async function checkCluster(checks: Checks, single: Record<string, Service>): Promise<void> {
  // Compose's own tag, which says that a list replaces another one.
  const text = readFileSync(CLUSTER, 'utf8').replaceAll('!override ', '');
  const { services, volumes } = parseYaml(text) as Tree & {
    services: Record<string, Service>;
    volumes: Tree;
  };
  const nodes = Object.entries(services).filter(([name]) => name.startsWith('restate'));

  await checks.check('compose.cluster.yaml is valid by Compose’s own schema', () => {
    const schema = join(moduleFolder(COMPOSE), 'schema/compose-spec.json');
    const validate = validator(JSON.parse(readFileSync(schema, 'utf8')) as Tree);
    assert.deepEqual(validate(parseYaml(text)), []);
  });
  await checks.check('three nodes have one cluster, a disk each, and one that begins it', () => {
    assert.deepEqual(
      nodes.map(([name]) => name),
      ['restate', 'restate-2', 'restate-3'],
    );
    const addresses = JSON.stringify(nodes.map(([name]) => `http://${name}:5122`));
    for (const [name, { environment, image, volumes: own = [] }] of nodes) {
      assert.equal(image, single.restate?.image);
      assert.equal(environment.RESTATE_NODE_NAME, name);
      assert.equal(environment.RESTATE_ADVERTISED_ADDRESS, `http://${name}:5122`);
      assert.equal(environment.RESTATE_METADATA_CLIENT__ADDRESSES?.replaceAll(' ', ''), addresses);
      assert.equal(environment.RESTATE_DEFAULT_REPLICATION, '2');
      assert.match(environment.RESTATE_WORKER__SNAPSHOTS__DESTINATION ?? '', /^\$\{SNAPSHOTS:\?/);
      assert.deepEqual(own, [`${name}:/restate-data`]);
    }
    const first = nodes.filter(([, { environment: e }]) => e.RESTATE_AUTO_PROVISION === 'true');
    assert.deepEqual(
      first.map(([name]) => name),
      ['restate'],
    );
    assert.deepEqual(Object.keys(volumes), ['restate-2', 'restate-3']);
  });
  await checks.check('the gateways reach the nodes by one name of all', () => {
    const { gateway } = services;
    assert.equal(gateway?.environment.GATEWAY_RUNTIME_INGRESS_URL, 'http://restate-nodes:8080');
    assert.equal(gateway?.environment.GATEWAY_RUNTIME_ADMIN_URL, 'http://restate-nodes:9070');
    for (const [name, { networks }] of nodes) {
      const { default: inner } = networks as unknown as Record<string, { aliases: string[] }>;
      assert.deepEqual(inner?.aliases, ['restate-nodes'], name);
    }
  });
}

/** Whether a service has its work done at some time, and is not started again then. */
function endsBySelf(service: Service | undefined): boolean {
  return service?.restart !== 'unless-stopped';
}

/** Checks that each image has one full version everywhere, the one in `deploy/images.txt`. */
async function checkImages(checks: Checks, services: [string, Service][]): Promise<void> {
  const lines = readFileSync(join(ROOT, 'deploy/images.txt'), 'utf8').split('\n');
  const images = new Map(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(' ') as [string, string]),
  );
  await checks.check('every base image is one of deploy/images.txt, with its full version', () => {
    for (const image of images.values()) {
      assert.match(image, /^[\w./-]+:\d+\.\d+(?:\.\d+)?(?:-\w+)*(?:@sha256:[0-9a-f]{64})?$/);
    }
    for (const [name, { image, build }] of services) {
      if (build === undefined) assert.equal(image, images.get(name), name);
    }
    for (const file of ['Dockerfile', 'deploy/services.Dockerfile']) {
      const text = readFileSync(join(ROOT, file), 'utf8');
      assert.equal(/^ARG NODE_IMAGE=(.*)$/m.exec(text)?.[1], images.get('node'), file);
      const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
      const stages = [...text.matchAll(/^FROM \S+ AS (\S+)/gm)].map(([, stage]) => stage);
      const known = ['${NODE_IMAGE}', 'scratch', ...stages];
      for (const base of bases) assert.ok(known.includes(base), base);
    }
  });
  await checks.check('deploy/pin-images.sh finds nothing to write', () => {
    const script = join(ROOT, 'deploy/pin-images.sh');
    const { code, stdout } = runTool('bash', [script, '--check']);
    assert.deepEqual([stdout, code], ['', 0]);
  });
  await checks.check('Node and Restate are those that the tests run with', () => {
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version?: string }>;
    };
    for (const [name, installed] of [
      ['node', 'node'],
      ['restate', '@restatedev/restate-server'],
    ]) {
      const version = lock.packages[`node_modules/${installed}`]?.version;
      const tag = images.get(name ?? '')?.replace(/^[^:]*:|@.*$/g, '');
      assert.equal(tag?.split('-')[0], version);
    }
  });
  await checks.check('Electric is none that puts subset__order_by into its SQL', () => {
    const [major = 0, minor = 0, patch = 0] = (
      /:(\d+)\.(\d+)\.(\d+)/.exec(images.get('electric') ?? '') ?? []
    )
      .slice(1)
      .map(Number);
    assert.ok(major === 1 && (minor > 7 || (minor === 7 && patch >= 12)));
  });
}

async function checkConfig(checks: Checks): Promise<void> {
  if (findTool('docker-compose') === undefined) {
    report('  --    no docker-compose here: the schema alone was checked');
    return;
  }
  await checks.check('docker-compose config takes it', () => {
    const { code, stdout, stderr } = runTool('env', [
      ...SECRETS.map((name) => `${name}=test`),
      'docker-compose',
      '-f',
      FILE,
      'config',
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /GATEWAY_SYNC_SECRET: test/);
  });
}

/** The problems that the schema finds. */
function validator(schema: Tree): (value: unknown) => unknown[] {
  const options = { strict: false, validateFormats: false, allErrors: true };
  const validate = new Ajv2020(options).compile({ ...schema, $schema: undefined });
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}
