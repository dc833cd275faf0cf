import {
  IsDefined,
  IsString,
  ValidateBy,
  ValidateIf,
  type ValidationArguments,
} from 'class-validator';
import type { ErrorCode } from '../../platform/errors/error-codes.ts';
import type { FieldError } from '../../platform/errors/gateway-error.ts';
import {
  entityIdProblem,
  entityTypeProblem,
  isEntityUrl,
  isWorkspaceRef,
} from '../entity-address.ts';

/** Refuses a value that has a problem, with a code of its own. */
function HasNo(
  problemOf: (value: unknown) => string | undefined,
  code: ErrorCode,
): PropertyDecorator {
  const validator = {
    validate: (value: unknown) => problemOf(value) === undefined,
    defaultMessage: (args?: ValidationArguments) => problemOf(args?.value) ?? '',
  };
  return ValidateBy({ name: code, validator }, { context: { code } });
}

/** The body of a spawn command. */
export class SpawnDto {
  static readonly fields = ['type', 'id', 'args', 'parent', 'workspaceRef'] as const;

  /** Entity type to spawn. */
  @IsDefined({ message: 'is required: the entity type to spawn' })
  @HasNo(entityTypeProblem, 'invalid_entity_type')
  type: string;

  /** Instance id. Without one the gateway creates it. */
  @ValidateIf((dto: SpawnDto) => dto.id !== undefined)
  @HasNo(entityIdProblem, 'invalid_entity_id')
  id?: string;

  /** Spawn arguments, any JSON value; the agent type's own schema judges them. */
  args?: unknown;

  /** Entity URL of the parent; `tenantProblems` checks that it is one of this tenant. */
  @ValidateIf((dto: SpawnDto) => dto.parent !== undefined)
  @IsString({ message: 'must be a string: the entity URL of the parent' })
  parent?: string;

  /** Workspace key `<tenant>/<name>`; `tenantProblems` checks that it is one of this tenant. */
  @ValidateIf((dto: SpawnDto) => dto.workspaceRef !== undefined)
  @IsString({ message: 'must be a string of the form <tenant>/<name>' })
  workspaceRef?: string;
}

/** What is wrong with the names in a spawn body that must be of this tenant. */
export function tenantProblems({ parent, workspaceRef }: SpawnDto, tenant: string): FieldError[] {
  const errors: FieldError[] = [];
  if (typeof parent === 'string' && !isEntityUrl(parent, tenant)) {
    errors.push({ field: 'parent', message: `must be an entity URL /t/${tenant}/a/<type>/<id>` });
  }
  if (typeof workspaceRef === 'string' && !isWorkspaceRef(workspaceRef, tenant)) {
    errors.push({ field: 'workspaceRef', message: `must be of the form ${tenant}/<name>` });
  }
  return errors;
}
