import { getMetadataStorage } from 'class-validator';
import type { CommandDtoClass } from '../../src/commands/command-body.ts';
import { ADDRESS_PATTERNS, RESERVED_TYPES } from '../../src/contract/address-patterns.ts';
import type { Schema } from './openapi.ts';

interface Validator {
  name: string;
  constraints: unknown[];
}

/** The JSON Schema of a validator. A validator that is not here cannot be documented. */
const CONVERTERS: Record<string, (constraints: unknown[]) => Schema> = {
  isString: () => ({ type: 'string' }),
  isIn: ([values]) => ({ enum: values }),
  isDefined: () => ({}),
  invalid_entity_type: () => ENTITY_TYPE_SCHEMA,
  invalid_entity_id: () => ENTITY_ID_SCHEMA,
};

export const ENTITY_TYPE_SCHEMA: Schema = {
  type: 'string',
  pattern: ADDRESS_PATTERNS.type.source,
  not: { pattern: `^(?:${reservedTypes()})$` },
};

export const ENTITY_ID_SCHEMA: Schema = { type: 'string', pattern: ADDRESS_PATTERNS.id.source };

/** The reserved names in any case, because patterns have no flag for that. */
export function reservedTypes(): string {
  const anyCase = (name: string): string =>
    name.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
  return [...RESERVED_TYPES].map(anyCase).join('|');
}

/**
 * The schema of a command's body, from the validators of its DTO. `descriptions` adds what they do not say. Throws
 * for a validator without a converter, because the document would promise too much.
 */
export function dtoSchema<Dto extends object>(
  Dto: CommandDtoClass<Dto>,
  description: string,
  descriptions: Record<keyof Dto, Schema>,
): Schema {
  const required: string[] = [];
  const properties = Dto.fields.map((field) => {
    const validators = validatorsOf(Dto, field);
    if (validators.some(({ name }) => name === 'isDefined')) required.push(field);
    const schemas = validators.map(({ name, constraints }) => {
      const convert = CONVERTERS[name];
      if (!convert) throw new Error(`${Dto.name}.${field}: no schema for the validator "${name}"`);
      return convert(constraints);
    });
    const schema = Object.assign({}, ...schemas, descriptions[field as keyof Dto]) as Schema;
    return [field, required.includes(field) ? schema : orNull(schema)];
  });
  return {
    type: 'object',
    description,
    required,
    properties: Object.fromEntries(properties) as Schema,
    additionalProperties: false,
  };
}

/** In place of an optional field, `null` is as if the field were absent. */
function orNull(schema: Schema): Schema {
  return typeof schema['type'] === 'string'
    ? { ...schema, type: [schema['type'], 'null'] }
    : schema;
}

function validatorsOf(Dto: Function, field: string): Validator[] {
  return getMetadataStorage()
    .getTargetValidationMetadatas(Dto, '', false, false)
    .filter(({ propertyName }) => propertyName === field)
    .flatMap(({ type, name = type, constraints }) =>
      // "Only where it is given": what is not required need not be there anyway.
      type === 'conditionalValidation' ? [] : [{ name, constraints: constraints as unknown[] }],
    );
}
