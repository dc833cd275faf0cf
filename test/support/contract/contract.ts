import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  Content,
  Header,
  OpenApiDocument,
  Reference,
  Response,
  Schema,
} from '../../../tools/openapi/openapi.ts';
import { operationFinder } from './find-operation.ts';
import type { RecordedAnswer } from './recorded-answer.ts';
import { SchemaJudge } from './schema-judge.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/openapi.json');
const PROBLEM = 'application/problem+json';

/** The error codes of a request that matches no operation of the document. */
const NO_OPERATION_CODES = [
  'route_not_found',
  'malformed_path',
  'unexpected_body',
  'head_too_large',
  'draining',
  'overloaded',
];

/** Checks responses against `docs/openapi.json`. */
export class Contract {
  private readonly document: OpenApiDocument;
  private readonly findOperation: ReturnType<typeof operationFinder>;
  private readonly schemas: SchemaJudge;

  constructor(document = readDocument()) {
    this.document = document;
    this.findOperation = operationFinder(document);
    this.schemas = new SchemaJudge(document);
  }

  /**
   * What the document does not allow of an answer. What is no error of the gateway's own passes on
   * from an upstream; where that is a double, its answer is held to the operation's `default` alone:
   * the headers that the gateway sees to, whatever else a test had it say.
   */
  violations(answer: RecordedAnswer, isUpstreamReal: (path: string) => boolean): string[] {
    const problem = problemOf(answer);
    const found = this.findOperation(answer.method, answer.target);
    if (!found) return this.strayViolations(answer, problem?.code);
    const { path, operation } = found;
    const { default: fallback, ...declared } = operation.responses;
    const isDoubles = fallback !== undefined && !problem && !isUpstreamReal(path);
    const reference = isDoubles
      ? fallback
      : (declared[answer.status] ?? (problem ? undefined : fallback));
    if (!reference) return [`status ${answer.status} is not declared for ${operation.operationId}`];
    const response = this.resolve<Response>(reference);
    return [
      ...this.headerViolations(answer, response),
      ...this.bodyViolations(answer, response.content),
    ];
  }

  /** No path, or not with this method: the gateway has nothing to say but a problem. */
  private strayViolations(answer: RecordedAnswer, code: string | undefined): string[] {
    const isBodiless = answer.method === 'HEAD' && isProblem(answer);
    if (isBodiless || (code !== undefined && NO_OPERATION_CODES.includes(code))) return [];
    return [`status ${answer.status} where the document has no operation`];
  }

  private headerViolations({ headers }: RecordedAnswer, response: Response): string[] {
    return Object.entries(response.headers).flatMap(([name, reference]) => {
      const { required, schema } = this.resolve<Header>(reference);
      const value = headers.get(name.toLowerCase());
      if (value === undefined) return required ? [`the header ${name} is missing`] : [];
      return this.schemas.problems(schema, value).map((problem) => `the header ${name} ${problem}`);
    });
  }

  private bodyViolations(answer: RecordedAnswer, content: Content | undefined): string[] {
    if (answer.method === 'HEAD') return [];
    if (!content) {
      return answer.body?.length ? ['there is a body where none is declared'] : [];
    }
    const mediaType = mediaTypeOf(answer);
    const declared = content[mediaType] ?? content['*/*'];
    if (!declared) return [`the media type "${mediaType}" is not declared`];
    return declared.schema ? this.schemaViolations(answer, declared.schema) : [];
  }

  private schemaViolations(answer: RecordedAnswer, schema: Schema): string[] {
    const isJson = /^application\/(?:.+\+)?json$/.test(mediaTypeOf(answer));
    if (!isJson || !answer.body || answer.headers.has('content-encoding')) return [];
    const value = parseJson(answer.body);
    if (value === undefined) return ['the body is not JSON'];
    return this.schemas.problems(schema, value).map((problem) => `the body ${problem}`);
  }

  private resolve<T extends object>(value: T | Reference): T {
    if (!('$ref' in value)) return value;
    const keys = value.$ref.slice(2).split('/');
    return keys.reduce<unknown>(
      (part, key) => Reflect.get(part as object, key),
      this.document,
    ) as T;
  }
}

function readDocument(): OpenApiDocument {
  return JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApiDocument;
}

/** The media type without parameters, or undefined if the response has none. */
function mediaTypeOf({ headers }: RecordedAnswer): string {
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';', 1);
  return mediaType.trim().toLowerCase();
}

function isProblem(answer: RecordedAnswer): boolean {
  return mediaTypeOf(answer) === PROBLEM;
}

/** The gateway's error code in a response, if it can be known. A response to HEAD has no body. */
function problemOf(answer: RecordedAnswer): { code?: string } | undefined {
  if (!isProblem(answer)) return undefined;
  const value = (answer.body && parseJson(answer.body)) as { code?: string } | undefined;
  return value ?? {};
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
