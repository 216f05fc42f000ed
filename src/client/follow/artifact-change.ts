import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import { isPlainText, isWithoutContent, mergedParts } from "../../protocol/merged-parts.ts";
import type { Part } from "../../protocol/part.ts";

/** How an artifact differs from its known content. */
export interface ArtifactChange {
  /** `changed`: the artifact was extended or replaced. `outdated`: it is an earlier state of the known content. */
  readonly kind: "changed" | "outdated";
  readonly event: ArtifactEvent;
}

/**
 * The event that turns the known artifact into the current one; `undefined` if nothing changed.
 * Known `Hello`, now `Hello world`: an append of ` world`. Known `Hello`, now `Bye`: a replacement. Known `Hello`, now `Hel`: outdated.
 */
export function artifactChange(known: Artifact | undefined, now: Artifact): ArtifactChange | undefined {
  const replacing: ArtifactEvent = { kind: "artifact", artifact: now, append: false, lastChunk: false };
  if (known === undefined) return { kind: "changed", event: replacing };
  const added = addedParts(known.parts, now.parts);
  if (added === undefined) {
    const isOutdated = addedParts(now.parts, known.parts) !== undefined;
    return { kind: isOutdated ? "outdated" : "changed", event: replacing };
  }
  if (added.length === 0) return undefined;
  return { kind: "changed", event: { ...replacing, artifact: { ...now, parts: added }, append: true } };
}

/**
 * The parts after the known parts; `undefined` if the content no longer starts with those. Some agents send one part per chunk of a text, others one part
 * for the whole text, so adjacent plain texts are merged before the comparison.
 */
function addedParts(known: readonly Part[], now: readonly Part[]): readonly Part[] | undefined {
  return addedMerged(contentOf(known), contentOf(now)) ?? addedText(known, now);
}

/** All known parts must still be there, in the same order. Only the last one, if it is plain text, may have grown. */
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

/** The merged parts; none for an artifact that has only empty texts. */
function contentOf(parts: readonly Part[]): readonly Part[] {
  return isWithoutContent(parts) ? [] : mergedParts(parts);
}

/** Some agents join all text parts of an artifact: then only the texts are compared. */
function addedText(known: readonly Part[], now: readonly Part[]): readonly Part[] | undefined {
  const before = bareText(known);
  const after = bareText(now);
  if (before === undefined || after === undefined || !after.startsWith(before)) return undefined;
  return after.length === before.length ? [] : [{ text: after.slice(before.length) }];
}

/** `undefined` if a part is more than text. */
function bareText(parts: readonly Part[]): string | undefined {
  let text = "";
  for (const part of parts) {
    if (part.text === undefined || part.metadata !== undefined || part.filename !== undefined) return undefined;
    text += part.text;
  }
  return text;
}

/** Most parts are text without metadata; only others are compared as JSON. */
function isSamePart(a: Part, b: Part | undefined): boolean {
  if (b === undefined) return false;
  if (a.text !== undefined && a.metadata === undefined && b.metadata === undefined) {
    return a.text === b.text && a.mediaType === b.mediaType && a.filename === b.filename;
  }
  return isSameJson(a, b);
}

/** The order of members does not matter. */
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
