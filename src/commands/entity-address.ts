import { ADDRESS_PATTERNS, RESERVED_TYPES } from '../contract/address-patterns.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';

export interface EntityAddress {
  tenant: string;
  type: string;
  id: string;
}

/** @returns what is wrong with an entity type, or undefined if nothing is. */
export function entityTypeProblem(type: unknown): string | undefined {
  if (typeof type !== 'string' || !ADDRESS_PATTERNS.type.test(type)) {
    return 'must be 1 to 63 letters, digits, underscores, dots or hyphens, the first a letter';
  }
  return RESERVED_TYPES.has(type.toLowerCase())
    ? 'must not be "restate" or "openapi", which the runtime keeps for itself'
    : undefined;
}

/** @returns what is wrong with an entity id, or undefined if nothing is. */
export function entityIdProblem(id: unknown): string | undefined {
  return typeof id === 'string' && ADDRESS_PATTERNS.id.test(id)
    ? undefined
    : 'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : @ -, the first a letter, a digit, _ or -';
}

/** Builds an address from checked parts. Throws `invalid_entity_type` or `invalid_entity_id`. */
export function entityAddress(tenant: string, type: string, id: string): EntityAddress {
  const typeProblem = entityTypeProblem(type);
  if (typeProblem) throw new GatewayError('invalid_entity_type', `The entity type ${typeProblem}.`);
  const idProblem = entityIdProblem(id);
  if (idProblem) throw new GatewayError('invalid_entity_id', `The entity id ${idProblem}.`);
  return { tenant, type, id };
}

/** The entity URL, `/t/<tenant>/a/<type>/<id>`. */
export function entityUrl({ tenant, type, id }: EntityAddress): string {
  return `/t/${tenant}/a/${type}/${id}`;
}

/** The path of the entity's timeline in the history store. */
export function timelinePath({ tenant, type, id }: EntityAddress): string {
  return `/t/${tenant}/agents/${type}/${id}/timeline`;
}

/** Whether a text is the entity URL of an entity of this tenant. */
export function isEntityUrl(text: string, tenant: string): boolean {
  const [, ofTenant, type, id] = /^\/t\/([^/]+)\/a\/([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return ofTenant === tenant && !entityTypeProblem(type) && !entityIdProblem(id);
}

/** Whether a text is a workspace key `<tenant>/<name>` of this tenant. */
export function isWorkspaceRef(text: string, tenant: string): boolean {
  const [, ofTenant, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return ofTenant === tenant && !entityIdProblem(name);
}

/** The virtual-object key from the deployment's template, such as `{tenant}:{id}`. It is not encoded yet. */
export function objectKey(template: string, address: EntityAddress): string {
  return template.replace(/\{(tenant|type|id)\}/g, (_, part: keyof EntityAddress) => address[part]);
}
