/**
 * A key or a secret without the white space and the byte-order mark around it, which a file or a Secret of Kubernetes may
 * have. The gateway takes its own in the same way.
 */
export function secretText(text: string): string {
  return text.trim();
}
