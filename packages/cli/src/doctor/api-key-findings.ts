import { type Scope, SCOPES } from '../gateway-rules.ts';
import { DEFAULT_TENANT, timelineTarget } from '../connection/address.ts';
import type { Service } from '../../../client/src/index.ts';
import type { Connection } from '../connection/connection.ts';
import { typesAmong } from '../connection/registered-types.ts';
import { EXIT } from '../exit-codes.ts';
import { agentFindings } from './agent-findings.ts';
import { bad, ok, warning, type Finding } from './finding.ts';
import { CONTROL_PLANE, historyFinding, mountFindings } from './history-findings.ts';
import { inWords, isRefused, probe, type Probed } from './probe.ts';
import {
  answeredFinding,
  catalogFinding,
  upstreamFinding,
  UPSTREAMS,
  upstreamsSkipped,
} from './upstream-findings.ts';

/** A deployment that nobody registers: a request to remove it has no effect. */
const NO_DEPLOYMENT = '/registry/deployments/agent-gateway-doctor';

/** The gateway itself refuses it, after it has looked at the key and without asking an upstream. */
const NO_SPAWN = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };

/** A type that nobody registers: a command for it reaches the runtime and has no effect. */
const NOBODY = 'agent-gateway-doctor';

/** Checks whether the API key works, and which upstreams answer. */
export async function apiKeyFindings(connection: Connection): Promise<Finding[]> {
  const entity = { tenant: connection.tenant, type: NOBODY, id: 'probe' };
  const known = await probe(connection, '/api/spawn', NO_SPAWN);
  if (known.answered && known.status === 401) {
    return [
      bad('key', EXIT.refused, inWords(known), `The key came from ${connection.credential?.from}.`),
      ...upstreamsSkipped('not asked without a key that works'),
    ];
  }
  // All at the same time: those that are silent add nothing to each other.
  const [services, command, timeline, control, catalog, append, deletion, removal] =
    await Promise.all([
      probe(connection, '/registry/services'),
      probe(connection, controlPath(connection.tenant), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"verb":"resume","reason":"agent-gateway doctor"}',
      }),
      probe(connection, `${timelineTarget(entity)}?offset=now`),
      probe(connection, CONTROL_PLANE),
      probe(connection, '/shapes/v1/shape?table=entities&offset=now'),
      // The last three only test the scopes. What they would change does not exist.
      probe(connection, timelineTarget(entity), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '[]',
      }),
      probe(connection, timelineTarget(entity), { method: 'DELETE' }),
      probe(connection, NO_DEPLOYMENT, { method: 'DELETE' }),
    ]);
  const opened = openedScopes({
    commands: command,
    'streams:read': timeline,
    'streams:write': append,
    'streams:delete': deletion,
    'shapes:read': catalog,
    'registry:read': services,
    'registry:write': removal,
  });
  const registry = answeredFinding(
    UPSTREAMS.registry,
    parseServices(services) !== undefined,
    services,
    typesOf(parseServices(services) ?? []),
  );
  return [
    ok('key', `the API key from ${connection.credential?.from} works; it opens ${inList(opened)}`),
    ...excessFindings(opened, connection.neededScopes),
    ...tenantFindings(connection, command),
    runtimeFinding(command),
    registry,
    historyFinding(timeline),
    ...mountFindings(control),
    catalogFinding(catalog),
    ...(registry.state === 'ok' ? await agentFindings(connection) : []),
  ];
}

function controlPath(tenant: string | undefined): string {
  return `/api${tenant === undefined ? '' : `/t/${tenant}`}/a/${NOBODY}/probe/control`;
}

/** The key's scopes among those tested. The gateway checks them before it asks an upstream, so a late answer is no refusal. */
function openedScopes(probed: Record<Scope, Probed>): Scope[] {
  return SCOPES.filter((scope) => {
    const answer = probed[scope];
    return answer.answered ? !isRefused(answer) : answer.isLate;
  });
}

function inList(scopes: readonly Scope[]): string {
  if (scopes.length === SCOPES.length) return 'everything';
  return scopes.length === 0 ? 'nothing that was tried' : scopes.join(', ');
}

function excessFindings(opened: readonly Scope[], needed?: ReadonlySet<Scope>): Finding[] {
  const excess = needed ? opened.filter((scope) => !needed.has(scope)) : [];
  if (!needed || excess.length === 0) return [];
  return [
    warning(
      'scopes',
      `the key opens more than the profile says it needs: ${excess.join(', ')}`,
      `Make a key that opens no more: agent-gateway keys generate --name NAME --scopes ${[...needed].join('+')}`,
    ),
  ];
}

/** The setting that the gateway names when the runtime does not have the path of a send. */
const RUNTIME_API = 'GATEWAY_RUNTIME_API';

function runtimeFinding(command: Probed): Finding {
  if (command.answered && command.error.detail.includes(RUNTIME_API)) {
    const hint = `No command arrives like this. Change ${RUNTIME_API} of the gateway, then restart it.`;
    return bad(UPSTREAMS.runtime.name, EXIT.unreachable, inWords(command), hint);
  }
  return upstreamFinding(
    UPSTREAMS.runtime,
    command,
    // The tenant has a finding of its own. The gateway checks it before it asks the runtime.
    (status, code) => status === 202 || code === 'entity_type_not_registered',
  );
}

function tenantFindings({ tenant }: Connection, command: Probed): Finding[] {
  if (!command.answered || command.code !== 'tenant_not_served') return [];
  return [
    bad(
      'tenant',
      EXIT.notFound,
      `${tenant ?? DEFAULT_TENANT} is not served here`,
      'Name another with --tenant.',
    ),
  ];
}

/** The registered entity types: Restate's services that can be spawned. */
function typesOf(services: Service[]): string {
  const types = typesAmong(services);
  return types.length === 0
    ? '; no entity type is registered yet'
    : `; registered types: ${types.join(', ')}`;
}

/** Undefined for an answer that is not Restate's. */
function parseServices(probed: Probed): Service[] | undefined {
  if (!probed.answered || probed.status !== 200) return undefined;
  try {
    const { services } = JSON.parse(probed.text) as { services?: Service[] };
    return services?.every(({ handlers }) => Array.isArray(handlers)) ? services : undefined;
  } catch {
    return undefined;
  }
}
