/** Shorter bodies are parsed without checking their nesting: even 65,536 opening brackets take only milliseconds. */
const SMALL = 65_536;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
/** `[` and `{` differ in this bit only, and so do `]` and `}`. */
const WITHOUT_CASE = 0xdf;
const CLOSE_ARRAY = 0x5d;

/**
 * True if a large JSON text has more than `levels` levels. `JSON.parse` takes 100 times as long for 10 MB of opening brackets as for 10 MB of
 * text, and cannot be interrupted. Texts of at most 64 KB are not checked.
 */
export function nestsDeeper(json: Buffer, levels: number): boolean {
  return json.byteLength > SMALL && hasBrackets(json, levels) && isDeep(json, levels);
}

/** True if the text has more opening brackets than `levels`, also within strings: a cheap first check. */
function hasBrackets(json: Buffer, levels: number): boolean {
  let left = levels;
  for (const bracket of [OPEN_ARRAY, OPEN_OBJECT]) {
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1)) {
      if (left === 0) return true;
      left -= 1;
    }
  }
  return false;
}

/** Counts brackets outside strings. */
function isDeep(json: Buffer, levels: number): boolean {
  const end = json.byteLength;
  let depth = 0;
  let at = 0;
  while (at < end) {
    const code = json[at++] ?? 0;
    if (code === QUOTE) {
      at = afterString(json, at);
    } else if (code >= OPEN_ARRAY) {
      const bracket = code & WITHOUT_CASE;
      if (bracket === CLOSE_ARRAY) depth -= 1;
      else if (bracket === OPEN_ARRAY && ++depth > levels) return true;
    }
  }
  return false;
}

/** The index after the string that begins at `start`. */
function afterString(json: Buffer, start: number): number {
  const end = json.byteLength;
  let at = start;
  while (at < end) {
    const code = json[at++];
    if (code === QUOTE) break;
    if (code === BACKSLASH) at += 1;
  }
  return at;
}
