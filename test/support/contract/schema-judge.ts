import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { OpenApiDocument, Schema } from '../../../tools/openapi/openapi.ts';

/** Validates values with the schemas of a document. */
export class SchemaJudge {
  // OpenAPI's own keywords stand beside those of JSON Schema; patterns say what its formats do.
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  private readonly components: OpenApiDocument['components'];
  private readonly compiled = new Map<Schema, ValidateFunction>();

  constructor({ components }: OpenApiDocument) {
    this.components = components;
  }

  /** What of a value the schema does not allow. */
  problems(schema: Schema, value: unknown): string[] {
    const validate = this.compiled.get(schema) ?? this.compile(schema);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
    );
  }

  private compile(schema: Schema): ValidateFunction {
    // References are to the document's root, which this schema has to be for its own.
    const validate = this.ajv.compile({ ...schema, components: this.components });
    this.compiled.set(schema, validate);
    return validate;
  }
}
