import { randomUUID } from 'node:crypto';
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import type { TraceConfig } from '../trace-config.ts';
import { gatewayVersion } from '../../config/version.ts';

/** The resource of the spans: this copy of the gateway, and the attributes of `OTEL_RESOURCE_ATTRIBUTES`. */
export function gatewayResource(tenant: string, traces: TraceConfig): Resource {
  const { serviceName, resourceAttributes } = traces;
  return defaultResource().merge(
    resourceFromAttributes({
      'service.name': 'agent-gateway',
      'service.version': gatewayVersion(),
      'service.instance.id': randomUUID(),
      'gateway.tenant': tenant,
      ...resourceAttributes,
      ...(serviceName !== undefined && { 'service.name': serviceName }),
    }),
  );
}
