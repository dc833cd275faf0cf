import type { ReadFile, Variables } from './variables.ts';

/** RFC 9110 §5.6.2 and §5.5. Node would refuse other headers at every export. */
const HEADER = { name: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, value: /^[\t\x20-\x7e\x80-\xff]*$/ };
const ATTRIBUTE = { name: /^[\x21-\x7e]+$/, value: /^[^\p{Cc}]*$/u };
type PairForm = typeof HEADER;

/**
 * Reads OpenTelemetry's variables and collects their problems. No problem contains a value, because headers carry
 * credentials.
 */
export class OtelVariables {
  private readonly variables: Variables;
  private readonly readFile: ReadFile;
  private readonly problems: string[];

  constructor(variables: Variables, readFile: ReadFile, problems: string[]) {
    this.variables = variables;
    this.readFile = readFile;
    this.problems = problems;
  }

  /** Empty counts as unset. */
  text(name: string): string | undefined {
    return this.variables[name]?.trim() || undefined;
  }

  /** The variable of an exporter that applies: the one for traces, or else the one for all signals. */
  otlpName(suffix: string): string {
    const ofTraces = `OTEL_EXPORTER_OTLP_TRACES_${suffix}`;
    return this.text(ofTraces) === undefined ? `OTEL_EXPORTER_OTLP_${suffix}` : ofTraces;
  }

  refuse(name: string, problem: string): void {
    this.problems.push(`${name} ${problem}`);
  }

  choice<Choice extends string>(
    name: string,
    choices: readonly Choice[],
    byDefault: Choice,
  ): Choice {
    const text = this.text(name);
    if (text === undefined) return byDefault;
    const choice = choices.find((one) => one === text);
    if (choice === undefined) this.refuse(name, `must be one of ${choices.join(', ')}`);
    return choice ?? byDefault;
  }

  wholeNumber(name: string, byDefault: number, min: number): number {
    const text = this.text(name);
    if (text === undefined) return byDefault;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= min)) this.refuse(name, `must be a whole number from ${min} to 999999999`);
    return number;
  }

  ratio(name: string, byDefault: number): number {
    const text = this.text(name);
    if (text === undefined) return byDefault;
    const number = /^\d*\.?\d+(?:e-?\d{1,3})?$/i.test(text) ? Number(text) : Number.NaN;
    if (!(number <= 1)) this.refuse(name, 'must be a number from 0 to 1');
    return number;
  }

  /** The content of the file that a variable names. */
  file(name: string): string | undefined {
    const path = this.text(name);
    if (path === undefined) return undefined;
    try {
      return this.readFile(path);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      this.refuse(name, `must be a readable file (${code})`);
      return undefined;
    }
  }

  headers(name: string): Record<string, string> {
    return this.pairs(name, HEADER);
  }

  attributes(name: string): Record<string, string> {
    return this.pairs(name, ATTRIBUTE);
  }

  /** `name=value,name=value`, percent-encoded. */
  private pairs(name: string, form: PairForm): Record<string, string> {
    const entries: [string, string][] = [];
    const parts = (this.text(name) ?? '').split(',').filter((part) => part.trim() !== '');
    for (const [index, part] of parts.entries()) {
      const entry = parsePair(part, form);
      if (entry) entries.push(entry);
      else this.refuse(name, `entry ${index + 1} must be name=value, percent-encoded`);
    }
    return Object.fromEntries(entries);
  }
}

function parsePair(text: string, form: PairForm): [string, string] | undefined {
  const at = text.indexOf('=');
  if (at === -1) return undefined;
  try {
    const name = decodeURIComponent(text.slice(0, at).trim());
    const value = decodeURIComponent(text.slice(at + 1).trim());
    return form.name.test(name) && form.value.test(value) ? [name, value] : undefined;
  } catch {
    return undefined;
  }
}
