import { ValidateBy } from 'class-validator';

/**
 * A base URL of an upstream: http or https, without credentials, query or fragment, so that a
 * request path can be appended to it as it is.
 */
export function IsBaseUrl(): PropertyDecorator {
  return ValidateBy({
    name: 'isBaseUrl',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isBaseUrl(value),
      defaultMessage: () =>
        'must be an http or https URL without user name, query or fragment, such as http://host:1234/path',
    },
  });
}

export function isBaseUrl(value: string): boolean {
  // The URL parser also accepts "http:host" and corrects other mistakes.
  if (!/^https?:\/\/[^/]/i.test(value) || /[?#@\s\\]/.test(value)) return false;
  return URL.canParse(value) && !new URL(value).pathname.includes('//');
}
