/**
 * Pieces joined in memory of their own. `Buffer.concat` would take small ones out of a pool, and each that is kept
 * would keep a whole block of that pool.
 */
export function joined(pieces: readonly Buffer[]): Buffer {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const piece of pieces) at += piece.copy(whole, at);
  return whole;
}
