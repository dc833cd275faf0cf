import {
  bytesIn,
  decodeProtobuf,
  messagesIn,
  numberIn,
  textIn,
  type ProtobufMessage,
} from './protobuf.ts';

export type Attributes = Record<string, string | number | boolean>;

/** A span as a collector received it (opentelemetry/proto/trace/v1/trace.proto). */
export interface ExportedSpan {
  name: string;
  kind: 'server' | 'client';
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  traceState: string;
  startNs: bigint;
  endNs: bigint;
  attributes: Attributes;
  status: 'unset' | 'ok' | 'error';
  statusMessage: string;
  links: { traceId: string; spanId: string }[];
  /** Of the process that made it. */
  resource: Attributes;
}

const KINDS = { 2: 'server', 3: 'client' } as const;
const STATUSES = ['unset', 'ok', 'error'] as const;

/** The spans of an `ExportTraceServiceRequest`. Throws if the bytes are not one. */
export function exportedSpans(body: Buffer): ExportedSpan[] {
  return messagesIn(decodeProtobuf(body), 1).flatMap((resourceSpans) => {
    const [resource = new Map()] = messagesIn(resourceSpans, 1);
    const attributes = attributesIn(resource, 1);
    return messagesIn(resourceSpans, 2)
      .flatMap((scopeSpans) => messagesIn(scopeSpans, 2))
      .map((span) => exportedSpan(span, attributes));
  });
}

function exportedSpan(span: ProtobufMessage, resource: Attributes): ExportedSpan {
  const [status = new Map()] = messagesIn(span, 15);
  const kind = KINDS[Number(numberIn(span, 6)) as keyof typeof KINDS];
  if (kind === undefined) throw new Error('a span that is neither of a server nor of a client');
  return {
    name: textIn(span, 5),
    kind,
    traceId: bytesIn(span, 1).toString('hex'),
    spanId: bytesIn(span, 2).toString('hex'),
    parentSpanId: bytesIn(span, 4).toString('hex'),
    traceState: textIn(span, 3),
    startNs: numberIn(span, 7),
    endNs: numberIn(span, 8),
    attributes: attributesIn(span, 9),
    status: STATUSES[Number(numberIn(status, 3))] ?? 'unset',
    statusMessage: textIn(status, 2),
    links: messagesIn(span, 13).map((link) => ({
      traceId: bytesIn(link, 1).toString('hex'),
      spanId: bytesIn(link, 2).toString('hex'),
    })),
    resource,
  };
}

function attributesIn(message: ProtobufMessage, field: number): Attributes {
  const pairs = messagesIn(message, field).map((pair) => {
    const [value = new Map()] = messagesIn(pair, 2);
    return [textIn(pair, 1), plainValue(value)] as const;
  });
  return Object.fromEntries(pairs);
}

function plainValue(value: ProtobufMessage): string | number | boolean {
  if (value.has(1)) return textIn(value, 1);
  if (value.has(2)) return numberIn(value, 2) === 1n;
  if (value.has(3)) return Number(numberIn(value, 3));
  throw new Error('an attribute of a kind that the gateway does not make');
}
