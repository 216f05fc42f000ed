/** Collects chunks of standard output as text. */
export interface TextOutput {
  /** The text of a chunk, as far as it is complete. */
  add(chunk: Uint8Array): string;
  /** The rest of the text. */
  end(): string;
}

/**
 * Decodes UTF-8 that comes in chunks. Invalid bytes become U+FFFD. Line breaks at the end of the whole text are left out, as in `$(command)` of a shell;
 * so line breaks at the end of a chunk come with the next one.
 */
export function createTextOutput(): TextOutput {
  const decoder = new TextDecoder();
  let breaks = "";
  const add = (text: string): string => {
    let end = text.length;
    while (end > 0 && (text[end - 1] === "\n" || text[end - 1] === "\r")) end -= 1;
    const complete = end === 0 ? "" : breaks + text.slice(0, end);
    breaks = end === 0 ? breaks + text : text.slice(end);
    return complete;
  };
  return {
    add: (chunk) => add(decoder.decode(chunk, { stream: true })),
    end: () => add(decoder.decode()),
  };
}
