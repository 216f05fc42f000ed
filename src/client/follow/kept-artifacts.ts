import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import { addMerged, mergedParts } from "../../protocol/merged-parts.ts";
import type { Part } from "../../protocol/part.ts";

type Change = Pick<ArtifactEvent, "artifact" | "append">;

/** An artifact up to a certain part. Parts are only appended to the list, so many marks can share it. */
interface Mark {
  /** The index of the artifact, in the order of arrival. */
  readonly slot: number;
  /** Everything but the parts. */
  readonly head: Artifact;
  readonly parts: PartList;
  readonly count: number;
  /** Approximate number of bytes. */
  readonly headSize: number;
  readonly size: number;
}

/** Approximate overhead of a part in bytes. */
const PART_OVERHEAD = 160;
/** The log is never restarted below this many marks and bytes of replaced artifacts. */
const MIN_LOG = 64;
const MIN_REPLACED = 256 * 1024;

/**
 * The artifacts of a task with their content. A snapshot costs nothing until it is read, and adding an event takes constant time. To achieve this, each
 * event appends a mark to a log, and a snapshot is a position in the log. The log is restarted when it is longer than the list of artifacts.
 */
export class KeptArtifacts {
  readonly #slots = new Map<string, number>();
  /** The latest mark of each artifact. */
  readonly #marks: Mark[] = [];
  /** The marks at the start of the log. */
  #base: readonly Mark[] = [];
  #log: Mark[] = [];
  #bytes = 0;
  /** Bytes of replaced artifacts that the log still references. */
  #replaced = 0;

  constructor(artifacts: readonly Artifact[] = []) {
    for (const artifact of artifacts) this.add({ artifact, append: false });
  }

  /** Approximate size of the artifacts in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A replaced artifact stays in memory while the log refers to it, so the log is also restarted when such artifacts take too much. */
  add({ artifact, append }: Change): void {
    const { artifactId } = artifact;
    const slot = this.#slots.get(artifactId) ?? this.#marks.length;
    const known = this.#marks[slot];
    const mark = known !== undefined && append ? grown(known, artifact) : markOf(slot, artifact);
    if (known === undefined) this.#slots.set(artifactId, slot);
    else if (!append) this.#replaced += known.size;
    this.#bytes += mark.size - (known?.size ?? 0);
    this.#marks[slot] = mark;
    this.#log.push(mark);
    const isLong = this.#log.length > MIN_LOG + this.#marks.length;
    if (!isLong && this.#replaced < MIN_REPLACED + this.#bytes / 4) return;
    this.#base = [...this.#marks];
    this.#log = [];
    this.#replaced = 0;
  }

  /** A function that builds the artifacts as they are now, whenever it is called. */
  snapshot(): () => readonly Artifact[] {
    const base = this.#base;
    const log = this.#log;
    const end = log.length;
    return () => {
      const marks = [...base];
      for (let index = 0; index < end; index++) {
        const mark = log[index];
        if (mark !== undefined) marks[mark.slot] = mark;
      }
      return marks.map(artifactOf);
    };
  }
}

/** Parts as received, and merged up to the last read position: reading after each event costs only the new parts. */
class PartList {
  readonly #parts: Part[];
  #merged: Part[] = [];
  #mergedCount = 0;

  constructor(parts: readonly Part[]) {
    this.#parts = [...parts];
  }

  get count(): number {
    return this.#parts.length;
  }

  add(parts: readonly Part[]): void {
    for (const part of parts) this.#parts.push(part);
  }

  /** The first parts, with adjacent plain texts merged. */
  first(count: number): readonly Part[] {
    if (count < this.#mergedCount) return [...mergedParts(this.#parts.slice(0, count))];
    for (const part of this.#parts.slice(this.#mergedCount, count)) addMerged(this.#merged, part);
    this.#mergedCount = count;
    return [...this.#merged];
  }
}

function markOf(slot: number, artifact: Artifact): Mark {
  const headSize = bytesOfHead(artifact);
  const size = headSize + bytesOfParts(artifact);
  const parts = new PartList(artifact.parts);
  return { slot, head: artifact, parts, count: parts.count, headSize, size };
}

function grown(known: Mark, artifact: Artifact): Mark {
  const { slot, parts } = known;
  parts.add(artifact.parts);
  // Name, description and metadata stay unless the new artifact replaces them.
  const headSize = Math.max(known.headSize, bytesOfHead(artifact));
  const size = known.size - known.headSize + headSize + bytesOfParts(artifact);
  return { slot, head: { ...known.head, ...artifact }, parts, count: parts.count, headSize, size };
}

function artifactOf({ head, parts, count }: Mark): Artifact {
  return { ...head, parts: parts.first(count) };
}

function bytesOfHead({ artifactId, name, description, metadata, extensions }: Artifact): number {
  let units = artifactId.length + (name?.length ?? 0) + (description?.length ?? 0);
  if (metadata !== undefined) units += JSON.stringify(metadata).length;
  if (extensions !== undefined) units += JSON.stringify(extensions).length;
  return PART_OVERHEAD + 2 * units;
}

function bytesOfParts({ parts }: Artifact): number {
  let bytes = 0;
  for (const part of parts) bytes += PART_OVERHEAD + 2 * unitsOf(part);
  return bytes;
}

function unitsOf({ text, raw, url, data, metadata }: Part): number {
  const content = text ?? raw ?? url;
  const rest = metadata === undefined ? 0 : JSON.stringify(metadata).length;
  return rest + (content === undefined ? JSON.stringify(data ?? null).length : content.length);
}
