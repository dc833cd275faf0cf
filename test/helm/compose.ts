import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isTree, type Tree } from './chart.ts';
import { report, type Checks } from './checks.ts';
import { moduleFolder } from './schemas.ts';
import { findTool, runTool } from './tools.ts';
import { parseYaml } from './yaml.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILE = join(ROOT, 'deploy/compose.yaml');
const COMPOSE = 'github.com/compose-spec/compose-go/v2@v2.16.2';
const SECRETS = [
  'API_KEY',
  'AGENTS_API_KEY',
  'REGISTER_API_KEY',
  'READ_TOKEN_SECRET',
  'ELECTRIC_SECRET',
  'POSTGRES_PASSWORD',
];

interface Service extends Tree {
  image: string;
  ports?: string[];
  networks: string[];
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: Tree;
  volumes?: string[];
}

/** `deploy/compose.yaml`, which cannot be run here: its schema, and what its header promises. */
export async function checkCompose(checks: Checks): Promise<void> {
  const project = parseYaml(readFileSync(FILE, 'utf8')) as Tree & {
    services: Record<string, Service>;
    volumes: Tree;
    networks: Record<string, Tree>;
  };
  const services = Object.entries(project.services);

  await checks.check('compose.yaml is valid by Compose’s own schema', () => {
    const schema = join(moduleFolder(COMPOSE), 'schema/compose-spec.json');
    const validate = validator(JSON.parse(readFileSync(schema, 'utf8')));
    assert.deepEqual(validate(project), []);
    assert.notDeepEqual(validate({ services: { gateway: { imgae: 'x' } } }), []);
  });
  await checks.check('only the gateway publishes a port, and is on the outer network', () => {
    const open = services.filter(([, service]) => service.ports !== undefined);
    assert.deepEqual(
      open.map(([name]) => name),
      ['gateway'],
    );
    const outer = services.filter(([, { networks }]) => networks.join() !== 'inside');
    assert.deepEqual(
      outer.map(([name]) => name),
      ['gateway'],
    );
    assert.equal(project.networks.inside?.internal, true);
  });
  await checks.check('every service waits for the health of what it needs', () => {
    for (const [name, { depends_on: needs = {} }] of services) {
      for (const [needed, { condition }] of Object.entries(needs)) {
        assert.equal(condition, 'service_healthy', `${name} on ${needed}`);
        const isAsked = project.services[needed]?.healthcheck !== undefined;
        // The images of the gateway and of Electric bring a health check of their own.
        assert.ok(isAsked || ['gateway', 'electric'].includes(needed), needed);
      }
    }
    assert.deepEqual(Object.keys(project.services.gateway?.depends_on ?? {}).sort(), [
      'electric',
      'history',
      'restate',
    ]);
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
  await checks.check('no image is unpinned', () => {
    for (const [name, { image, build }] of services) {
      assert.ok(build !== undefined || /:\d/.test(image), `${name}: ${image}`);
    }
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
  await checkConfig(checks);
}

async function checkConfig(checks: Checks): Promise<void> {
  if (findTool('docker-compose') === undefined) {
    report('  --    no docker-compose here, so no "docker-compose config"; the schema was checked');
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

/** The problems that a JSON schema finds. */
function validator(schema: unknown): (value: unknown) => unknown[] {
  const require = createRequire(import.meta.url);
  const { default: Ajv } = require('ajv/dist/2020') as { default: new (options: Tree) => Compiler };
  const compiler = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  if (isTree(schema)) delete schema.$schema;
  const validate = compiler.compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}

interface Compiler {
  compile(schema: unknown): ((value: unknown) => boolean) & { errors?: unknown[] | null };
}
