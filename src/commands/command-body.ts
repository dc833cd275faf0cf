import { isUtf8 } from 'node:buffer';
import { validateSync, type ValidationError } from 'class-validator';
import type { ErrorCode } from '../platform/errors/error-codes.ts';
import { GatewayError, type FieldError } from '../platform/errors/gateway-error.ts';
import { isJsonObject, parsedJson } from '../platform/http/parsed-json.ts';
import { topLevelKeys } from '../platform/http/top-level-keys.ts';

export interface CommandDtoClass<Dto extends object> {
  new (): Dto;
  /** The known fields, each at most once. Any other field is refused by name. */
  readonly fields: readonly string[];
}

/** A field error that may have a code of its own, such as `unknown_verb`. */
export interface CodedFieldError extends FieldError {
  code?: ErrorCode;
}

/** A body can hold a hundred thousand fields, and the error names each of them twice. */
const MAX_NAMED_FIELDS = 32;
const MAX_NAME_LENGTH = 128;

/**
 * Parses and validates the body of a spawn or control command; `check` adds what a DTO alone cannot
 * judge. Throws one 400 that names every field that is wrong.
 */
export function parseCommandBody<Dto extends object>(
  bytes: Buffer,
  Dto: CommandDtoClass<Dto>,
  check: (dto: Dto) => FieldError[] = () => [],
): Dto {
  const text = jsonText(bytes);
  const object = jsonObject(text);
  // Duplicate keys are refused, because JSON parsers differ on which of two equal keys counts.
  const keys = topLevelKeys(text);
  const errors: CodedFieldError[] = [
    ...Dto.fields
      .filter((field) => keys.indexOf(field) !== keys.lastIndexOf(field))
      .map((field) => ({ field, message: 'must be given only once' })),
    ...Object.keys(object)
      .filter((field) => !Dto.fields.includes(field))
      .slice(0, MAX_NAMED_FIELDS)
      .map((field) => ({ field: abridge(field), message: 'is not a known field' })),
  ];
  const dto = new Dto();
  for (const field of Dto.fields) {
    // `null` is as if the field were absent.
    if (Object.hasOwn(object, field) && object[field] !== null) {
      Object.assign(dto, { [field]: object[field] });
    }
  }
  errors.push(...validateSync(dto, { stopAtFirstError: true }).map(toFieldError), ...check(dto));
  if (errors.length > 0) throw invalidFields(errors);
  return dto;
}

function abridge(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
}

function invalidFields(errors: CodedFieldError[]): GatewayError {
  const codes = new Set(errors.map(({ code }) => code ?? 'invalid_body'));
  const [onlyCode] = codes;
  const code = codes.size === 1 && onlyCode ? onlyCode : 'invalid_body';
  const detail = errors.map(({ field, message }) => `${JSON.stringify(field)} ${message}`);
  return new GatewayError(code, `The body is not valid: ${detail.join('; ')}.`, {
    errors: errors.map(({ field, message }) => ({ field, message })),
  });
}

function jsonText(bytes: Buffer): string {
  if (!isUtf8(bytes)) {
    throw new GatewayError('invalid_body', 'The body must be JSON in valid UTF-8.');
  }
  const text = bytes.toString();
  // RFC 8259 §8.1 forbids a byte-order mark, and parsers differ on whether they ignore it.
  if (text.startsWith('\uFEFF')) {
    throw new GatewayError('invalid_body', 'The body must not begin with a byte-order mark.');
  }
  return text;
}

function jsonObject(text: string): Record<string, unknown> {
  const value = parsedJson(text);
  if (isJsonObject(value)) return value;
  const problem = value === undefined ? '; it is not JSON.' : '.';
  throw new GatewayError('invalid_body', `The body must be a JSON object${problem}`);
}

function toFieldError({ property, constraints, contexts }: ValidationError): CodedFieldError {
  const [name = '', message = 'is not valid'] = Object.entries(constraints ?? {})[0] ?? [];
  const context = contexts?.[name] as { code: ErrorCode } | undefined;
  return { field: property, message, ...(context && { code: context.code }) };
}
