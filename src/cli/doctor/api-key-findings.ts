import type { Scope } from '../../config/api-key.ts';
import { DEFAULT_TENANT, commandPath, timelineTarget } from '../connection/address.ts';
import type { Connection } from '../connection/connection.ts';
import { EXIT } from '../exit-codes.ts';
import { plainLine } from '../output/plain-text.ts';
import { bad, ok, type Finding } from './finding.ts';
import { inWords, probe, type Probed } from './probe.ts';
import {
  isStoreAnswer,
  upstreamFinding,
  UPSTREAMS,
  upstreamsSkipped,
} from './upstream-findings.ts';

/** A type that nobody registers: a command for it reaches the runtime and has no effect. */
const NOBODY = 'agent-gateway-doctor';

/** Whether the API key works, and which servers behind the gateway answer. */
export async function apiKeyFindings(connection: Connection): Promise<Finding[]> {
  const entity = { tenant: connection.tenant, type: NOBODY, id: 'probe' };
  const services = await probe(connection, '/registry/services');
  if (services.answered && services.status === 401) {
    return [
      bad(
        'key',
        EXIT.refused,
        inWords(services),
        `The key came from ${connection.credential?.from}.`,
      ),
      ...upstreamsSkipped('not asked without a key that works'),
    ];
  }
  const [command, timeline, catalog] = await Promise.all([
    probe(connection, commandPath(entity, 'control'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"verb":"resume","reason":"agent-gateway doctor"}',
    }),
    probe(connection, `${timelineTarget(entity)}?offset=now`),
    probe(connection, '/shapes/v1/shape?table=entities&offset=now'),
  ]);
  return [
    ok(
      'key',
      `the API key from ${connection.credential?.from} works` +
        closedScopes({
          commands: command,
          'streams:read': timeline,
          'shapes:read': catalog,
          'registry:read': services,
        }),
    ),
    ...tenantFindings(connection, command),
    runtimeFinding(command),
    upstreamFinding(UPSTREAMS.registry, services, (status) => status === 200, typesOf(services)),
    upstreamFinding(UPSTREAMS.history, timeline, isStoreAnswer),
    upstreamFinding(UPSTREAMS.catalog, catalog, (status) => status === 200),
  ];
}

/** Of the scopes that can be tried without changing anything those that the key lacks, or has for other paths. */
function closedScopes(probed: Partial<Record<Scope, Probed>>): string {
  const closed = Object.entries(probed).flatMap(([scope, answer]) =>
    answer.answered && answer.refusal.code === 'scope_not_covered' ? [scope] : [],
  );
  return closed.length === 0 ? '' : `; what it does not open is left out: ${closed.join(', ')}`;
}

function runtimeFinding(command: Probed): Finding {
  return upstreamFinding(
    UPSTREAMS.runtime,
    command,
    // The tenant is a finding of its own, and is judged before the runtime is asked.
    (status, code) => status === 202 || code === 'entity_type_not_registered',
  );
}

function tenantFindings({ tenant }: Connection, command: Probed): Finding[] {
  if (!command.answered || command.refusal.code !== 'tenant_not_served') return [];
  return [
    bad(
      'tenant',
      EXIT.notFound,
      `${tenant ?? DEFAULT_TENANT} is not served here`,
      'Name another with --tenant.',
    ),
  ];
}

interface Service {
  name: string;
  ty: string;
  handlers: { name: string }[];
}

/** The registered entity types: of Restate's services those that can be spawned. */
function typesOf(services: Probed): string {
  if (!services.answered || services.status !== 200) return '';
  const listed = parseServices(services.text);
  const types = listed
    .filter(({ handlers }) => handlers.some(({ name }) => name === 'spawn'))
    .map(({ name }) => name)
    .sort();
  return types.length === 0
    ? '; no entity type is registered yet'
    : `; registered types: ${plainLine(types.join(', '))}`;
}

function parseServices(text: string): Service[] {
  try {
    return (JSON.parse(text) as { services?: Service[] }).services ?? [];
  } catch {
    return [];
  }
}
