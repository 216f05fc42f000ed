/** Marks a character that PostgreSQL cannot store: a character for private use. The mark itself is escaped as well. */
const MARK = "\uE000";
const NUL = "\0";
/** With the flag `u`, a surrogate pair is one character, so only single halves match. */
const ESCAPED = new RegExp(`[${NUL}${MARK}\\uD800-\\uDFFF]`, "gu");
const ESCAPE = new RegExp(`${MARK}([0-9a-f]{4})`, "g");

/**
 * Text as PostgreSQL can store it. NUL and halves of surrogate pairs are escaped: one of them would make the whole commit fail. Each character is
 * escaped by itself, so a text begins with a prefix if and only if the escaped text begins with the escaped prefix.
 */
export function storableText(text: string): string {
  if (text.isWellFormed() && !text.includes(NUL) && !text.includes(MARK)) return text;
  return text.replace(ESCAPED, (character) => `${MARK}${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The text that {@link storableText} was given. */
export function originalText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(ESCAPE, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
