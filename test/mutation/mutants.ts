/** What Stryker's report in JSON says of the mutants, as far as it is read here. */
export interface Report {
  files: Record<string, { source: string; mutants: ReportedMutant[] }>;
}

interface Position {
  line: number;
  column: number;
}

interface ReportedMutant {
  status: string;
  mutatorName: string;
  replacement?: string;
  location: { start: Position; end: Position };
}

/** A change of the code, and what became of it. */
export interface Mutant {
  file: string;
  status: string;
  mutator: string;
  start: Position;
  end: Position;
  /** The changed code before and after, each in one line. */
  before: string;
  after: string;
}

/** The statuses of the mutants that no test has seen. */
const UNSEEN = new Set(['Survived', 'NoCoverage']);

export function mutantsOf(report: Report): Mutant[] {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants.map(({ status, mutatorName, replacement = '', location: { start, end } }) => ({
      file,
      status,
      mutator: mutatorName,
      start,
      end,
      before: oneLine(textBetween(source, start, end)),
      after: oneLine(replacement),
    })),
  );
}

export function isUnseen({ status }: Mutant): boolean {
  return UNSEEN.has(status);
}

/** The place of a mutant, as Stryker takes it. Several mutants may have the same one. */
export function rangeOf({ file, start, end }: Mutant): string {
  return `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;
}

/** One line that says which change has which status. */
export function describeMutant({ file, start, status, before, after }: Mutant): string {
  return `${file}:${start.line}:${start.column} ${status}: ${before} -> ${after}`;
}

export function sameChange(one: Mutant, other: Mutant): boolean {
  return rangeOf(one) === rangeOf(other) && one.after === other.after;
}

function textBetween(source: string, start: Position, end: Position): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = lines[last]?.slice(0, end.column - 1) ?? '';
  lines[0] = lines[0]?.slice(start.column - 1) ?? '';
  return lines.join('\n');
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 100 ? `${line.slice(0, 97)}...` : line;
}
