import { hash } from 'node:crypto';

/** The entries of a list, and the problems with it. A problem never repeats a secret. */
export interface ParsedList<Entry> {
  entries: Entry[];
  problems: string[];
}

/** A list of secrets: the entries of a variable, and the file that adds to them. */
export interface SecretSource<Entry> {
  /** The variable, or the one that names the file if there is one. */
  setting: string;
  inline: Entry[];
  file: SecretFile<Entry> | undefined;
}

/** A file of secrets, and what it held at the start. */
export interface SecretFile<Entry> {
  path: string;
  /** Of its text, so that withdrawn secrets are not kept. */
  digest: string;
  entries: Entry[];
  /** `inForce` are the entries in use when the file is read again. */
  parse: (text: string, inForce?: readonly Entry[]) => ParsedList<Entry>;
}

/** Tells one content of a file from another. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64');
}
