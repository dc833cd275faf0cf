/** The `errors` of Electric's 400 body, by parameter. */
export class InvalidShapeRequest extends Error {
  readonly errors: Readonly<Record<string, unknown>>;

  /** @param group of the field, where it is one of several that make one parameter */
  constructor(field: string, problem: string, group?: string) {
    super(`${field}: ${problem}`);
    this.name = 'InvalidShapeRequest';
    const errors = { [field]: [problem] };
    this.errors = group === undefined ? errors : { [group]: errors };
  }
}

/** Electric uses the last one of repeated parameters (Plug does), and ignores a blank one. */
export function readParameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.getAll(name).at(-1);
  return value === undefined || value.trim() === '' ? undefined : value;
}

/** @throws InvalidShapeRequest */
export function parseChoice<T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly [T, T],
): T {
  const value = readParameter(query, name);
  const chosen = value === undefined ? choices[0] : choices.find((choice) => choice === value);
  if (chosen === undefined) throw new InvalidShapeRequest(name, 'is invalid');
  return chosen;
}

/** @throws InvalidShapeRequest */
export function parseFlag(query: URLSearchParams, name: string): boolean {
  const value = readParameter(query, name);
  if (value === undefined || value === 'false' || value === '0') return false;
  if (value === 'true' || value === '1') return true;
  throw new InvalidShapeRequest(name, 'is invalid');
}
