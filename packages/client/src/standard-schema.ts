/**
 * The used part of the Standard Schema interface (https://standardschema.dev, version 1). Schemas of zod, valibot and
 * arktype have it.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** What is wrong with a value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The value as the schema gives it, or a sentence of what is wrong. */
export async function validated<Output>(
  schema: StandardSchema<Output>,
  value: unknown,
): Promise<{ value: Output } | { wrong: string }> {
  const result = await schema['~standard'].validate(value);
  return result.issues ? { wrong: result.issues.map(sentenceOf).join(', ') } : result;
}

function sentenceOf({ message, path = [] }: SchemaIssue): string {
  const names = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return names.length === 0 ? message : `${names.join('.')}: ${message}`;
}
