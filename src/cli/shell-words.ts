/** Quotes a word for a POSIX shell if necessary: `a b` becomes `'a b'`, `it's` becomes `'it'\''s'`. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
