/** The parts of OpenAPI 3.1 that the document uses. */
export type Schema = Record<string, unknown>;

export interface Reference {
  $ref: string;
}

export interface Header {
  description: string;
  required?: boolean;
  schema: Schema;
  example?: string;
}

export interface Example {
  summary?: string;
  value: unknown;
}

export interface MediaType {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, Example | Reference>;
}

export type Content = Record<string, MediaType>;

export interface Response {
  description: string;
  headers: Record<string, Reference>;
  content?: Content;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  required?: boolean;
  schema: Schema;
  example?: unknown;
  examples?: Record<string, Example>;
  style?: 'deepObject';
  explode?: boolean;
  [extension: `x-${string}`]: unknown;
}

export interface RequestBody {
  description: string;
  required: boolean;
  content: Content;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: RequestBody;
  responses: Record<string, Response | Reference>;
}

export const METHODS = ['get', 'head', 'put', 'post', 'patch', 'delete', 'options'] as const;
export type Method = (typeof METHODS)[number];
export type PathItem = Partial<Record<Method, Operation>>;

export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: unknown[];
  tags: unknown[];
  paths: Record<string, PathItem>;
  components: {
    securitySchemes: Record<string, unknown>;
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    responses: Record<string, Response>;
    examples: Record<string, Example>;
  };
}
