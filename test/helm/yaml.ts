import { createRequire } from 'node:module';

interface JsYaml {
  safeLoad(text: string): unknown;
  safeLoadAll(text: string): unknown[];
  safeDump(value: unknown): string;
}

const yaml = createRequire(import.meta.url)('js-yaml') as JsYaml;

export const parseYaml = (text: string): unknown => yaml.safeLoad(text);

/** The documents of a stream that are not empty. */
export const parseYamlDocuments = (text: string): unknown[] =>
  yaml.safeLoadAll(text).filter((document) => document !== null && document !== undefined);

export const writeYaml = (value: unknown): string => yaml.safeDump(value);
