import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import type { Task } from "../../protocol/task.ts";
import type { StreamResult } from "../api.ts";
import { RemoteError } from "../http/errors.ts";
import { type ArtifactChange, artifactChange } from "./artifact-change.ts";
import { ArtifactDigests, type DigestRecord } from "./artifact-digests.ts";
import { KeptArtifacts } from "./kept-artifacts.ts";

/** How much of the artifacts is kept. */
export interface ArtifactMemoryOptions {
  /** Whether to keep the content of artifacts. Default `all`. */
  readonly result?: StreamResult | undefined;
  /** About how many bytes of artifacts to keep. Default: no limit. */
  readonly maxBytes?: number | undefined;
}

/** The known artifacts of a task: their content, or only their digests if the content is not wanted or too large. */
export class ArtifactMemory {
  readonly #maxBytes: number;
  #kept: KeptArtifacts | undefined;
  #digests: ArtifactDigests | undefined;
  #isTooLarge = false;

  constructor({ result = "all", maxBytes = Number.POSITIVE_INFINITY }: ArtifactMemoryOptions) {
    this.#maxBytes = maxBytes;
    if (result === "all") this.#kept = new KeptArtifacts();
    else this.#digests = new ArtifactDigests();
  }

  /** The artifacts took more than `maxBytes`, so their content was dropped. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** `undefined` if the content is kept. */
  get digests(): DigestRecord | undefined {
    return this.#digests?.record;
  }

  /** Starts over with these artifacts. If the content is not kept, `digests` adds artifacts that are known by digest only. */
  begin(artifacts: readonly Artifact[], digests?: DigestRecord): void {
    if (this.#kept === undefined) {
      this.#digests = new ArtifactDigests(digests);
      for (const artifact of artifacts) this.#digests.add({ artifact, append: false });
    } else this.#keep(new KeptArtifacts(artifacts));
  }

  add(change: Pick<ArtifactEvent, "artifact" | "append">): void {
    this.#digests?.add(change);
    if (this.#kept === undefined) return;
    this.#kept.add(change);
    this.#keep(this.#kept);
  }

  /** A function that builds the artifacts as they are now, whenever it is called; `undefined` if their content is not kept. */
  snapshot(): (() => readonly Artifact[]) | undefined {
    return this.#kept?.snapshot();
  }

  /** A function that finds the change of each artifact. Throws `stream-lost` if there are more artifacts than digests can be kept for. */
  comparison({ id, artifacts = [] }: Task): (now: Artifact) => ArtifactChange | undefined {
    const kept = this.#kept;
    if (kept !== undefined) {
      const known = new Map(
        kept
          .snapshot()()
          .map((artifact) => [artifact.artifactId, artifact]),
      );
      return (now) => artifactChange(known.get(now.artifactId), now);
    }
    const digests = this.#digests;
    if (digests?.isFull === true && artifacts.length > 0) {
      const text = "The task's stream cannot be resumed: the task has more artifacts than can be compared.";
      throw new RemoteError("stream-lost", text, { taskId: id });
    }
    return (now) => digests?.change(now);
  }

  /** Switches from content to digests, for good, when the content exceeds `maxBytes`. */
  #keep(artifacts: KeptArtifacts): void {
    this.#kept = artifacts;
    if (artifacts.bytes <= this.#maxBytes) return;
    this.#kept = undefined;
    this.#isTooLarge = true;
    this.#digests = new ArtifactDigests();
    for (const artifact of artifacts.snapshot()()) this.#digests.add({ artifact, append: false });
  }
}
