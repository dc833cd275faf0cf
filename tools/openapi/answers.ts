import { headerReferences, type AnswerHeaders } from './headers.ts';
import type { Content, Response } from './openapi.ts';

/** The response for one status. */
export interface Answer extends AnswerHeaders {
  description: string;
  content?: Content;
}

export type Answers = Record<string, Answer>;

/** Bytes of any media type, as the upstream sends them. */
export const ANYTHING: Content = { '*/*': {} };

/** An error of an upstream, which is forwarded unchanged. */
export function plainText(
  description: string,
  example: string,
  headers: AnswerHeaders = {},
): Answer {
  return {
    description,
    ...headers,
    content: { 'text/plain': { schema: { type: 'string' }, example } },
  };
}

/** Adds headers to every response. */
export function withHeaders(
  answers: Answers,
  { always = [], sometimes = [] }: AnswerHeaders,
): Answers {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      {
        ...answer,
        always: [...always, ...(answer.always ?? [])],
        sometimes: [...sometimes, ...(answer.sometimes ?? [])],
      },
    ]),
  );
}

/** Merges two sets of responses. If both have a status, only headers that both always send are certain. */
export function joinAnswers(ours: Answers, theirs: Answers): Answers {
  const joined = { ...ours, ...theirs };
  for (const [status, own] of Object.entries(ours)) {
    const other = theirs[status];
    if (other) joined[status] = joinAnswer(own, other);
  }
  return joined;
}

function joinAnswer(own: Answer, other: Answer): Answer {
  const ofBoth = (own.always ?? []).filter((name) => other.always?.includes(name));
  return {
    description: `${own.description} Or the upstream's own: ${other.description}`,
    always: ofBoth,
    sometimes: [own, other]
      .flatMap(({ always = [], sometimes = [] }) => [...always, ...sometimes])
      .filter((name, at, names) => !ofBoth.includes(name) && names.indexOf(name) === at),
    content: { ...other.content, ...own.content },
  };
}

/** Sorted by status, with `default` last. */
export function responses(answers: Answers, hasBody: boolean): Record<string, Response> {
  const entries = Object.entries(answers).sort(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(
    entries.map(([status, { description, content, ...headers }]) => [
      status,
      { description, headers: headerReferences(headers), ...(hasBody && content && { content }) },
    ]),
  );
}
