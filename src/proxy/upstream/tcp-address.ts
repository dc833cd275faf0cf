/** The TCP address of a URL. */
export interface TcpAddress {
  host: string;
  port: number;
}

export function tcpAddress({ hostname, port, protocol }: URL): TcpAddress {
  const byDefault = protocol === 'https:' ? 443 : 80;
  return {
    // A URL has IPv6 addresses in brackets.
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? byDefault : Number(port),
  };
}
