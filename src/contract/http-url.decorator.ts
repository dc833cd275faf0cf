import { applyDecorators } from '@nestjs/common';
import { Transform, type TransformFnParams } from 'class-transformer';
import { ValidateBy } from 'class-validator';

/**
 * A base URL of an upstream: http or https, without credentials, query or fragment, so that a
 * request path can be appended to it as it is. Slashes at its end are removed.
 */
export function BaseUrl(): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: TransformFnParams): unknown =>
      isBaseUrl(value) ? value.replace(/\/+$/, '') : value,
    ),
    ValidateBy({
      name: 'isBaseUrl',
      validator: {
        validate: isBaseUrl,
        defaultMessage: () =>
          'must be an http or https URL without user name, query or fragment, such as http://host:1234/path',
      },
    }),
  );
}

export function isBaseUrl(value: unknown): value is string {
  // The URL parser also accepts "http:host" and corrects other mistakes.
  if (typeof value !== 'string' || !/^https?:\/\/[^/]/i.test(value) || /[?#@\s\\]/.test(value)) {
    return false;
  }
  return URL.canParse(value) && !new URL(value).pathname.includes('//');
}

/** Where a JSON Web Key Set is: an http or https URL without a user name, or the path of a file. */
export function KeySetSource(): PropertyDecorator {
  return ValidateBy({
    name: 'isKeySetSource',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isKeySetSource(value),
      defaultMessage: () => 'must be a file path or an http(s) URL without user name',
    },
  });
}

function isKeySetSource(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true;
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}
