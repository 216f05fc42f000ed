/**
 * A short fingerprint of a text, the same in every process and release: 64 bits in two halves, as 14 characters. Tells apart what a
 * repeated run produces from what was logged; no protection against somebody who wants two texts to look alike.
 */
export function fingerprint(text: string): string {
  let first = 0x9e3779b9 ^ text.length;
  let second = 0x7f4a7c15 ^ text.length;
  // Each step can be undone, so that two texts that differ once never run together again in what they share.
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    first = Math.imul(first ^ unit, 0x85ebca6b);
    first ^= first >>> 15;
    second = Math.imul(second + unit, 0xc2b2ae35);
    second ^= second >>> 13;
  }
  return inBase36(mix(first ^ (second >>> 7))) + inBase36(mix(second ^ (first << 9)));
}

/** Lets every bit of the half reach every other. */
function mix(half: number): number {
  let mixed = Math.imul(half ^ (half >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function inBase36(half: number): string {
  return half.toString(36).padStart(7, "0");
}
