import { IsDefined, IsString, ValidateBy, ValidateIf } from 'class-validator';
import { entityIdProblem, entityTypeProblem } from '../entity-address.ts';

/** The body of a spawn command. */
export class SpawnDto {
  static readonly fields = ['type', 'id', 'args', 'parent', 'workspaceRef'] as const;

  /** Entity type to spawn. */
  @IsDefined({ message: 'is required: the entity type to spawn' })
  @ValidateBy(
    {
      name: 'entityType',
      validator: {
        validate: (value) => entityTypeProblem(value) === undefined,
        defaultMessage: (args) => entityTypeProblem(args?.value) ?? '',
      },
    },
    { context: { code: 'invalid_entity_type' } },
  )
  type: string;

  /** Instance id. Without one the gateway creates it. */
  @ValidateIf((dto: SpawnDto) => dto.id !== undefined)
  @ValidateBy(
    {
      name: 'entityId',
      validator: {
        validate: (value) => entityIdProblem(value) === undefined,
        defaultMessage: (args) => entityIdProblem(args?.value) ?? '',
      },
    },
    { context: { code: 'invalid_entity_id' } },
  )
  id?: string;

  /** Spawn arguments, any JSON value; the agent type's own schema judges them. */
  args?: unknown;

  /** Entity URL of the parent; the service checks that it is one of this tenant. */
  @ValidateIf((dto: SpawnDto) => dto.parent !== undefined)
  @IsString({ message: 'must be a string: the entity URL of the parent' })
  parent?: string;

  /** Workspace key `<tenant>/<name>`; the service checks that it is one of this tenant. */
  @ValidateIf((dto: SpawnDto) => dto.workspaceRef !== undefined)
  @IsString({ message: 'must be a string of the form <tenant>/<name>' })
  workspaceRef?: string;
}
