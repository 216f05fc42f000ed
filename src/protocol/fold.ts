import type { Artifact } from "./artifact.ts";
import type { TaskEvent } from "./event.ts";
import type { ArtifactId } from "./ids.ts";
import type { Part } from "./part.ts";

interface Growing {
  artifact: Artifact;
  parts: Part[];
}

/**
 * The artifacts a log adds up to. Feed it events in order; ask it at any time. An appended chunk adds its parts and, where
 * it carries any, renews name, description, extensions and metadata.
 */
export class ArtifactFold {
  readonly #artifacts = new Map<ArtifactId, Growing>();

  add(event: TaskEvent): void {
    if (event.kind !== "artifact") return;
    const { artifact, append } = event;
    const known = this.#artifacts.get(artifact.artifactId);
    if (known === undefined || !append) {
      this.#artifacts.set(artifact.artifactId, { artifact, parts: [...artifact.parts] });
      return;
    }
    for (const part of artifact.parts) known.parts.push(part);
    known.artifact = { ...known.artifact, ...artifact };
  }

  artifacts(): Artifact[] {
    const artifacts: Artifact[] = [];
    for (const { artifact, parts } of this.#artifacts.values()) {
      artifacts.push(artifact.parts.length === parts.length ? artifact : { ...artifact, parts });
    }
    return artifacts;
  }
}
