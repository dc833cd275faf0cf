import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { Scope } from '../contract/api-key.ts';

/**
 * Who may use a route: anyone, or a server with an API key, or also a browser with a read token. A read token opens
 * GET and HEAD of the paths that its prefix covers.
 */
export type AccessRule = 'public' | 'api-key' | 'api-key-or-read-token';

export const ACCESS_RULE = 'gateway:access';
export const REQUIRED_SCOPE = 'gateway:scope';

/** States a route's access, on the controller or the method. A route without it does not start. */
export const Access = (rule: AccessRule): CustomDecorator => SetMetadata(ACCESS_RULE, rule);

/**
 * States the scope that an API key needs for a route, on the controller or the method. A route that is not public
 * does not start without it.
 */
export const RequiredScope = (scope: Scope): CustomDecorator => SetMetadata(REQUIRED_SCOPE, scope);

export const NAMED_PATH = 'gateway:named-path';

/** A request header that names another path, which the paths of an API key must cover as well. */
export interface NamedPath {
  /** The name of the header. */
  header: string;
  /** Throws `malformed_path` for a value that is none. */
  check(value: string): void;
}

/** States such a header, on the controller or the method. */
export const NamesPath = (named: NamedPath): CustomDecorator => SetMetadata(NAMED_PATH, named);
