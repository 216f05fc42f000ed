/**
 * A short fingerprint of a text, the same in every process and release: two 32-bit hashes, written as 14 characters. It shows whether a
 * repeated run produces what the log holds. It is not cryptographic: equal fingerprints of different texts can be constructed.
 */
export function fingerprint(text: string): string {
  let first = 0x9e3779b9 ^ text.length;
  let second = 0x7f4a7c15 ^ text.length;
  // Each step is reversible, so two texts that differ in one character keep different hashes over the equal characters that follow.
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    first = Math.imul(first ^ unit, 0x85ebca6b);
    first ^= first >>> 15;
    second = Math.imul(second + unit, 0xc2b2ae35);
    second ^= second >>> 13;
  }
  return inBase36(mix(first ^ (second >>> 7))) + inBase36(mix(second ^ (first << 9)));
}

/** Makes every bit of the result depend on every bit of the hash. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function inBase36(hash: number): string {
  return hash.toString(36).padStart(7, "0");
}
