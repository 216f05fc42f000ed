import type { Part, TextPart } from "./part.ts";

/** A text part without metadata, file name and media type. */
export function isPlainText(part: Part): part is TextPart {
  return (
    part.text !== undefined &&
    part.metadata === undefined &&
    part.filename === undefined &&
    part.mediaType === undefined
  );
}

/**
 * Appends a part to a list of merged parts. A plain text is joined with the plain text before it, so that streamed text is one part. An empty
 * plain text is left out unless it is the only part.
 */
export function addMerged(parts: Part[], part: Part): void {
  const last = parts.length - 1;
  const before = parts[last];
  if (before === undefined) {
    parts.push(part);
    return;
  }
  if (isPlainText(part)) {
    if (part.text === "") return;
    if (isPlainText(before)) parts[last] = { text: before.text + part.text };
    else parts.push(part);
    return;
  }
  // Only a list with a single part can end with an empty plain text.
  if (before.text === "" && isPlainText(before)) parts[last] = part;
  else parts.push(part);
}

/** The parts with adjacent plain texts joined and empty plain texts left out, as {@link addMerged} does. */
export function mergedParts(parts: readonly Part[]): readonly Part[] {
  if (parts.length < 2) return parts;
  const merged: Part[] = [];
  for (const part of parts) addMerged(merged, part);
  return merged;
}

/** Whether the parts add nothing to an artifact: there are none, or only empty plain texts, as in a chunk that closes an artifact. */
export function isWithoutContent(parts: readonly Part[]): boolean {
  return parts.every((part) => part.text === "" && isPlainText(part));
}
