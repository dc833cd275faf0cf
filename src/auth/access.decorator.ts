import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { Scope } from '../contract/api-key.ts';

/** What a route asks for: nothing, or a credential that has this scope. */
export type AccessRule = 'public' | Scope;

export const ACCESS_RULE = 'gateway:access';

/** States a route's access, on the controller or the method. A route without it does not start. */
export const Access = (rule: AccessRule): CustomDecorator => SetMetadata(ACCESS_RULE, rule);

/** Whether a read token may come to a route. It opens GET and HEAD of the paths that its prefix covers. */
export function takesReadTokens(rule: AccessRule): boolean {
  return rule.startsWith('streams:') || rule.startsWith('shapes:');
}

export const NAMED_PATH = 'gateway:named-path';

/** A request header that names another path, which the paths of an API key must cover as well. */
export interface NamedPath {
  /** The name of the header. */
  header: string;
  /** Throws `malformed_path` for a value that is none. */
  check(value: string): void;
}

/** States such a header, on the controller. */
export const NamesPath = (named: NamedPath): CustomDecorator => SetMetadata(NAMED_PATH, named);
