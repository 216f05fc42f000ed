import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import type { Part } from "../../protocol/part.ts";
import type { ArtifactChange } from "./artifact-change.ts";
import { type ContentDigest, ContentHash, hashOf, isPlainText } from "./content-hash.ts";

/** The digests of a task's artifacts by the hash of their ids. Can be stored as JSON. */
export type DigestRecord = Readonly<Record<string, ContentDigest>>;

/** How many digests are kept, about 130 bytes each. */
const MAX_ARTIFACTS = 100_000;

/**
 * Stores the length and a hash of each artifact instead of its content: enough to find the new parts of an artifact that was extended.
 * Adjacent texts count as one text, because some agents join the chunks of a text.
 */
export class ArtifactDigests {
  readonly #hashes: Map<string, ContentHash>;
  #isFull = false;

  constructor(record: DigestRecord = {}) {
    this.#hashes = new Map(Object.entries(record).map(([key, digest]) => [key, new ContentHash(digest)]));
  }

  /** Pass it to the constructor to continue, for example after a restart. */
  get record(): DigestRecord {
    return Object.fromEntries(Array.from(this.#hashes, ([key, hash]) => [key, hash.digest]));
  }

  /** There are more than 100 000 artifacts, so changes can no longer be found by comparison. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Ignored once there are too many artifacts: see `isFull`. */
  add({ artifact, append }: Pick<ArtifactEvent, "artifact" | "append">): void {
    if (this.#isFull) return;
    const key = hashOf(artifact.artifactId);
    const hash = (append ? this.#hashes.get(key) : undefined) ?? new ContentHash();
    for (const part of artifact.parts) hash.add(part);
    this.#hashes.set(key, hash);
    if (this.#hashes.size <= MAX_ARTIFACTS) return;
    this.#isFull = true;
    this.#hashes.clear();
  }

  /**
   * The event that turns the known artifact into the current one; `undefined` if nothing changed. A shorter artifact counts as an earlier
   * state.
   */
  change(now: Artifact): ArtifactChange | undefined {
    const replacing: ArtifactEvent = { kind: "artifact", artifact: now, append: false, lastChunk: false };
    const known = this.#hashes.get(hashOf(now.artifactId));
    if (known === undefined) return { kind: "changed", event: replacing };
    const added = partsAfter(known, now.parts);
    if (added === "shorter") return { kind: "outdated", event: replacing };
    if (added === "different") return { kind: "changed", event: replacing };
    if (added.length === 0) return undefined;
    return { kind: "changed", event: { ...replacing, artifact: { ...now, parts: added }, append: true } };
  }
}

/** The parts after the content with this hash. */
function partsAfter(known: ContentHash, parts: readonly Part[]): readonly Part[] | "shorter" | "different" {
  const hash = new ContentHash();
  const added: Part[] = [];
  for (const part of parts) {
    if (isPlainText(part) && part.text === "") continue;
    const missing = known.length - hash.length;
    const rest = missing === 0 ? part : hash.addUpTo(part, missing);
    if (rest === "too-long") return "different";
    if (rest !== undefined) added.push(rest);
  }
  if (hash.length < known.length) return "shorter";
  return hash.digest.hash === known.digest.hash ? added : "different";
}
