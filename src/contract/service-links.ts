/**
 * Variables that Kubernetes sets in every pod for a Service named `gateway` or `gateway-…`, as Docker's links once
 * did (kubernetes.io, "Accessing Services from a Pod").
 */
const SERVICE_VARIABLE =
  /^GATEWAY_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** Whether a variable is one of those. `GATEWAY_PORT` is one if its value looks like `tcp://10.0.0.1:8787`. */
export function isServiceVariable(name: string, value: string | undefined): boolean {
  return SERVICE_VARIABLE.test(name) || isServiceUrl(name, value);
}

/**
 * What to add to the message about a port that contains such a URL. The gateway does not treat it as unset: a
 * wrong value stops the start, whoever gave it, and nobody has to guess the port.
 */
export function serviceUrlHint(name: string, value: string | undefined): string {
  if (!isServiceUrl(name, value)) return '';
  const service = name
    .replace(/_PORT$/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return (
    `; Kubernetes sets it to a URL for the Service "${service}": ` +
    'set enableServiceLinks: false in the pod, or set the port yourself'
  );
}

function isServiceUrl(name: string, value = ''): boolean {
  return name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value);
}
