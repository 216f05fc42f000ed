import type { Artifact } from "./artifact.ts";
import type { TaskEvent } from "./event.ts";
import type { ArtifactId } from "./ids.ts";
import { addMerged, mergedParts } from "./merged-parts.ts";
import type { Part } from "./part.ts";

interface Growing {
  artifact: Artifact;
  /** The merged parts; `undefined` until a second event adds to those of `artifact`. */
  parts: Part[] | undefined;
}

/**
 * Computes the artifacts of a task from its events, added in order. An appended chunk adds its parts and replaces the name, description, extensions
 * and metadata that it contains. Adjacent plain text parts are merged into one.
 */
export class ArtifactFold {
  /** Created with the first artifact. */
  #artifacts: Map<ArtifactId, Growing> | undefined;

  /** Status events are ignored. A chunk with `append` for an unknown artifact creates the artifact. */
  add(event: TaskEvent): void {
    if (event.kind !== "artifact") return;
    const { artifact, append } = event;
    this.#artifacts ??= new Map();
    const known = this.#artifacts.get(artifact.artifactId);
    if (known === undefined || !append) {
      this.#artifacts.set(artifact.artifactId, { artifact: withMergedParts(artifact), parts: undefined });
      return;
    }
    known.parts ??= [...known.artifact.parts];
    for (const part of artifact.parts) addMerged(known.parts, part);
    if (renewsMembers(artifact)) known.artifact = { ...known.artifact, ...artifact };
  }

  /** In the order in which the artifacts first appeared. Their lists of parts belong to the fold: a later `add` extends them. */
  artifacts(): Artifact[] {
    const artifacts: Artifact[] = [];
    if (this.#artifacts === undefined) return artifacts;
    for (const { artifact, parts } of this.#artifacts.values())
      artifacts.push(parts === undefined ? artifact : { ...artifact, parts });
    return artifacts;
  }
}

/** The artifact with its adjacent plain text parts merged into one. */
export function withMergedParts(artifact: Artifact): Artifact {
  const parts = mergedParts(artifact.parts);
  return parts.length === artifact.parts.length ? artifact : { ...artifact, parts };
}

/** False if the chunk only appends parts, as most chunks of a stream do: then nothing else is copied. */
function renewsMembers({ name, description, extensions, metadata }: Artifact): boolean {
  return name !== undefined || description !== undefined || extensions !== undefined || metadata !== undefined;
}
