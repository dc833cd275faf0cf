/** `none` is that of a request without an answer. */
const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

/** The label of a status; undefined where there was no answer. */
export function statusClassLabel(status: number | undefined): StatusClass {
  if (status === undefined) return 'none';
  // An upstream may answer 600 and above, which RFC 9110 §15 wants to be taken for a server's error.
  return STATUS_CLASSES[Math.floor(status / 100)] ?? '5xx';
}
