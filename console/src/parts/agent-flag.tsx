import type { JSX } from "preact";

/** Ten patterns in a square of 16. */
const PATTERNS: readonly string[] = [
  "M0 0h3.500L8 4.500 12.500 0H16v3.500L11.500 8 16 12.500V16h-3.500L8 11.500 3.500 16H0v-3.500L4.500 8 0 3.500z",
  "M6 0h4v6h6v4h-6v6H6v-6H0V6h6z",
  "M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  "M0 0h16v8H0z",
  "M0 0h5v16H0zM11 0h5v16h-5z",
  "M0 0h8v8H0zM8 8h8v8H8z",
  "M0 1l11 7-11 7z",
  "M0 0h16v16H0zM5 5v6h6V5z",
  "M0 16V0h16z",
  "M8 0h8v16H8z",
];
const COLOURS = 6;

/** The pattern by which people recognise an agent; the same for the same id. */
export function AgentFlag({
  id,
  size = "small",
}: {
  readonly id: string;
  readonly size?: "small" | "large";
}): JSX.Element {
  const hash = hashOf(id);
  return (
    <svg class={`flag ${size} colour-${hash % COLOURS}`} viewBox="0 0 16 16" aria-hidden="true">
      <rect class="ground" width="16" height="16" />
      <path class="figure" fill-rule="evenodd" d={PATTERNS[Math.floor(hash / COLOURS) % PATTERNS.length] ?? ""} />
    </svg>
  );
}

/** FNV-1a of the characters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}
