import type { Artifact } from "../protocol/artifact.ts";

/**
 * Numbers a task's artifacts from 0, in the order in which they first appear, which never changes. For versions that have no
 * other name for them.
 */
export class ArtifactNumbers {
  readonly #numbers = new Map<string, number>();

  /** `artifacts`: those the task has already, as stored; more may come. */
  constructor(artifacts: string | undefined) {
    if (artifacts === undefined) return;
    // Safe: stored texts are made here.
    for (const { artifactId } of JSON.parse(artifacts) as readonly Artifact[]) this.of(artifactId);
  }

  /** The artifact's number. Ask for each as it appears: one that was not known until now is the next. */
  of(artifactId: string): number {
    const known = this.#numbers.get(artifactId);
    if (known !== undefined) return known;
    const next = this.#numbers.size;
    this.#numbers.set(artifactId, next);
    return next;
  }
}
