// Control and bidirectional characters of strangers must not reach the terminal. Line breaks and tabs may.
const CONTROLS = /(?![\n\t])[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Foreign text, safe for a terminal: control characters are escaped. */
export function plainText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same in one line. */
export function oneLine(text: string): string {
  return plainText(text).replaceAll(/[\n\t]+/g, " ");
}
