/** Quotes a word for a POSIX shell if necessary: `a b` becomes `'a b'`, `it's` becomes `'it'\''s'`. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Splits a command into words by the quoting rules of a POSIX shell: spaces separate words, `'…'` is literal, `"…"` and a backslash quote. Nothing else
 * is interpreted: no variables, no patterns, no pipes. `undefined` if a quote is not closed, or the command ends with a backslash.
 */
export function splitShellWords(command: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: "'" | '"' | undefined;
  for (let at = 0; at < command.length; at += 1) {
    const character = command.charAt(at);
    const next = command[at + 1];
    if (character === "\\" && quote !== "'" && (quote === undefined || next === '"' || next === "\\")) {
      if (next === undefined) return undefined;
      word = `${word ?? ""}${next}`;
      at += 1;
    } else if (character === quote) {
      quote = undefined;
    } else if (quote === undefined && (character === "'" || character === '"')) {
      quote = character;
      // Two quotes are an empty word.
      word ??= "";
    } else if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = `${word ?? ""}${character}`;
    }
  }
  if (quote !== undefined) return undefined;
  return word === undefined ? words : [...words, word];
}
