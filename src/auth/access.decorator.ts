import { SetMetadata, type CustomDecorator } from '@nestjs/common';

/**
 * Who may use a route: anyone; a server with an API key; or also a browser with a read token, which
 * opens GET and HEAD of the paths that its prefix covers.
 */
export type AccessRule = 'public' | 'api-key' | 'api-key-or-read-token';

export const ACCESS_RULE = 'gateway:access';

/** States a route's access, on the controller or the method. A route without it does not start. */
export const Access = (rule: AccessRule): CustomDecorator => SetMetadata(ACCESS_RULE, rule);
