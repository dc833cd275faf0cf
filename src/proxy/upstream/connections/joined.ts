/**
 * Joins pieces in a buffer of their own. `Buffer.concat` would take a small buffer from a pool, and a kept buffer
 * keeps its whole block of the pool alive.
 */
export function joined(pieces: readonly Buffer[]): Buffer {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const piece of pieces) at += piece.copy(whole, at);
  return whole;
}
