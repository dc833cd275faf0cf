/** `none` stands for a request without a response. */
const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

/** The label of a status. Undefined stands for no response. */
export function statusClassLabel(status: number | undefined): StatusClass {
  if (status === undefined) return 'none';
  // RFC 9110 §15: a status of 600 and above counts as a server error.
  return STATUS_CLASSES[Math.floor(status / 100)] ?? '5xx';
}
