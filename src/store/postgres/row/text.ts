/** Marks a character that PostgreSQL cannot store. The mark itself is escaped as well. */
const MARK = "\u001B";

/**
 * Text as PostgreSQL can store it. NUL and halves of surrogate pairs are escaped: one of them would make the whole commit fail. Each character is
 * escaped by itself, so a text begins with a prefix if and only if the escaped text begins with the escaped prefix.
 */
export function storableText(text: string): string {
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(MARK)) return text;
  // With the flag `u`, a surrogate pair is one character, so only single halves match.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what must be escaped.
  return text.replace(/[\0\u001B\uD800-\uDFFF]/gu, (character) => {
    return `${MARK}${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** The text that {@link storableText} was given. */
export function originalText(text: string): string {
  if (!text.includes(MARK)) return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the mark is a control character.
  return text.replace(/\u001B([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
