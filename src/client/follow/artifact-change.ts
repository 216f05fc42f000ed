import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import { isPlainText, isWithoutContent, mergedParts } from "../../protocol/merged-parts.ts";
import type { Part } from "../../protocol/part.ts";

/** How an artifact became what it is said to be. */
export interface ArtifactChange {
  /** It went on, or is another one now; or it is said to be what it was before. */
  readonly kind: "news" | "outdated";
  readonly event: ArtifactEvent;
}

/** The one event by which an artifact becomes what it is now; `undefined` where nothing has changed. */
export function artifactChange(known: Artifact | undefined, now: Artifact): ArtifactChange | undefined {
  const replacing: ArtifactEvent = { kind: "artifact", artifact: now, append: false, lastChunk: false };
  if (known === undefined) return { kind: "news", event: replacing };
  const added = addedParts(known.parts, now.parts);
  if (added === undefined) {
    const isOutdated = addedParts(now.parts, known.parts) !== undefined;
    return { kind: isOutdated ? "outdated" : "news", event: replacing };
  }
  if (added.length === 0) return undefined;
  return { kind: "news", event: { ...replacing, artifact: { ...now, parts: added }, append: true } };
}

/**
 * What came behind the parts that are known; `undefined` where those are no longer the beginning. Some agents give one part for each chunk of
 * a text, others one part for the whole text: both are compared with adjacent plain texts merged.
 */
function addedParts(known: readonly Part[], now: readonly Part[]): readonly Part[] | undefined {
  return addedMerged(contentOf(known), contentOf(now)) ?? addedText(known, now);
}

function addedMerged(known: readonly Part[], now: readonly Part[]): readonly Part[] | undefined {
  const last = known.at(-1);
  if (last === undefined) return now;
  const at = known.length - 1;
  if (!known.every((part, index) => index === at || isSamePart(part, now[index]))) return undefined;
  const other = now[at];
  if (isSamePart(last, other)) return now.slice(known.length);
  if (other === undefined || !isPlainText(last) || !isPlainText(other)) return undefined;
  if (!other.text.startsWith(last.text)) return undefined;
  return [{ text: other.text.slice(last.text.length) }, ...now.slice(known.length)];
}

/** Merged parts; none for an artifact of empty texts only. */
function contentOf(parts: readonly Part[]): readonly Part[] {
  return isWithoutContent(parts) ? [] : mergedParts(parts);
}

/** Some agents run the pieces of a text together: then it is the text that must go on. */
function addedText(known: readonly Part[], now: readonly Part[]): readonly Part[] | undefined {
  const before = bareText(known);
  const after = bareText(now);
  if (before === undefined || after === undefined || !after.startsWith(before)) return undefined;
  return after.length === before.length ? [] : [{ text: after.slice(before.length) }];
}

function bareText(parts: readonly Part[]): string | undefined {
  let text = "";
  for (const part of parts) {
    if (part.text === undefined || part.metadata !== undefined || part.filename !== undefined) return undefined;
    text += part.text;
  }
  return text;
}

function isSamePart(a: Part, b: Part | undefined): boolean {
  if (b === undefined) return false;
  if (a.text !== undefined && a.metadata === undefined && b.metadata === undefined) {
    return a.text === b.text && a.mediaType === b.mediaType && a.filename === b.filename;
  }
  return isSameJson(a, b);
}

function isSameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const entries = Object.entries(a);
  const others = new Map(Object.entries(b));
  return (
    entries.length === others.size &&
    entries.every(([name, value]) => others.has(name) && isSameJson(value, others.get(name)))
  );
}
