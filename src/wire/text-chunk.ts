/** Where the values of a plain text chunk are in its stored text. */
export interface TextChunk {
  /** The stored text. */
  readonly body: string;
  /** The first character of the artifact's id, as JSON writes it, and the closing quote. */
  readonly idFrom: number;
  readonly idTo: number;
  /** The same of the text. */
  readonly textFrom: number;
  readonly textTo: number;
  readonly isLast: boolean;
}

/** The constant pieces of a text chunk, as `writeTextChunk` in `protocol/serial.ts` writes them: id and text stand between the pieces. */
const BEGINS = '{"artifact":{"artifactId":"';
const PARTS = '","parts":[{"text":"';
const ENDS = '"}]},"append":true';

/**
 * The event if it is a plain text chunk as `writeEvent` writes it; otherwise `undefined`. Most events of a stream are text chunks, and
 * taking their two values from the stored text is much faster than parsing and writing it.
 */
export function textChunkIn(body: string): TextChunk | undefined {
  if (!body.startsWith(BEGINS)) return undefined;
  const idFrom = BEGINS.length;
  const idTo = stringEnd(body, idFrom);
  if (!body.startsWith(PARTS, idTo)) return undefined;
  const textFrom = idTo + PARTS.length;
  const textTo = stringEnd(body, textFrom);
  if (!body.startsWith(ENDS, textTo)) return undefined;
  const rest = body.slice(textTo + ENDS.length);
  if (rest !== "}" && rest !== ',"lastChunk":true}') return undefined;
  return { body, idFrom, idTo, textFrom, textTo, isLast: rest !== "}" };
}

const BACKSLASH = 0x5c;

/** The index of the closing quote of the JSON string whose content begins at `from`. */
function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** A quote is escaped if an odd number of backslashes precedes it. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
}
