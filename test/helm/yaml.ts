import { createRequire } from 'node:module';

interface JsYaml {
  load(text: string): unknown;
  loadAll(text: string): unknown[];
  dump(value: unknown): string;
}

const yaml = createRequire(import.meta.url)('js-yaml') as JsYaml;

export const parseYaml = (text: string): unknown => yaml.load(text);

/** The documents of a stream that are not empty. */
export const parseYamlDocuments = (text: string): unknown[] =>
  yaml.loadAll(text).filter((document) => document !== null && document !== undefined);

export const writeYaml = (value: unknown): string => yaml.dump(value);
