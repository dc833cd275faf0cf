import { Setting } from './setting.decorator.ts';

/**
 * A base URL of an upstream: http or https, without credentials, query or fragment, so that a
 * request path can be appended to it as it is. Slashes at its end are removed.
 */
export function BaseUrl(example = 'http://host:1234/path'): PropertyDecorator {
  return Setting(
    `must be an http or https URL without user name, query or fragment, such as ${example}`,
    (text) => (isBaseUrl(text) ? text.replace(/\/+$/, '') : undefined),
  );
}

function isBaseUrl(text: string): boolean {
  // The URL parser also accepts "http:host" and corrects other mistakes.
  if (!/^https?:\/\/[^/]/i.test(text) || /[?#@\s\\]/.test(text)) return false;
  return URL.canParse(text) && !new URL(text).pathname.includes('//');
}

/** Where a JSON Web Key Set is: an http or https URL without a user name, or the path of a file. */
export function KeySetSource(): PropertyDecorator {
  return Setting('must be a file path or an http(s) URL without user name', (text) =>
    isKeySetSource(text) ? text : undefined,
  );
}

function isKeySetSource(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true;
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}
