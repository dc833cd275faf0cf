import type { SecretList } from '../platform/config/secret-list.ts';

/** The lists of secrets whose files are read again while the gateway runs. */
export type SecretFiles = readonly Pick<SecretList<unknown>, 'name' | 'isFileGood'>[];

/** Injects `SecretFiles`. */
export const SECRET_FILES = Symbol('secret files');
