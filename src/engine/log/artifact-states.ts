import type { ArtifactId } from "../../protocol/ids.ts";
import { limitFailure } from "./limit-failure.ts";
import type { PendingChunk } from "./write-buffer.ts";

/** What the writer knows about an artifact. Its content is not kept. */
export interface ArtifactState {
  /** Its last chunk is marked as the last one. */
  isComplete: boolean;
  /** Its last chunk, until that is collected for a commit: up to then the chunk can still be marked as the last one. */
  pendingChunk: PendingChunk | undefined;
}

const NONE: readonly never[] = [];

/** The artifacts of one task, and which of them are complete. */
export class ArtifactStates {
  /** Created with the first artifact. */
  #states: Map<ArtifactId, ArtifactState> | undefined;
  readonly #maxArtifacts: number;

  constructor(known: Iterable<readonly [id: ArtifactId, isComplete: boolean]>, maxArtifacts: number) {
    this.#maxArtifacts = maxArtifacts;
    for (const [id, isComplete] of known) this.set(id, { isComplete, pendingChunk: undefined });
  }

  has(id: ArtifactId): boolean {
    return this.#states?.has(id) === true;
  }

  get(id: ArtifactId): ArtifactState | undefined {
    return this.#states?.get(id);
  }

  ids(): Iterable<ArtifactId> {
    return this.#states?.keys() ?? NONE;
  }

  /** The state of an artifact, or of a new one that `set` then adds. Throws a `TaskFailure` if the task may have no further artifact. */
  getOrCreate(id: ArtifactId): ArtifactState {
    const state = this.#states?.get(id);
    if (state !== undefined) return state;
    if ((this.#states?.size ?? 0) >= this.#maxArtifacts)
      throw limitFailure(
        "too-many-artifacts",
        `a task may have at most ${this.#maxArtifacts} artifacts (maxArtifacts)`,
      );
    return { isComplete: false, pendingChunk: undefined };
  }

  set(id: ArtifactId, state: ArtifactState): void {
    this.#states ??= new Map();
    this.#states.set(id, state);
  }

  /** The uncommitted events were collected for a commit and cannot be changed any more. */
  collected(): void {
    for (const state of this.#states?.values() ?? NONE) state.pendingChunk = undefined;
  }
}
