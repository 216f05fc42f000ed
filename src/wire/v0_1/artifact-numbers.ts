import type { Artifact } from "../../protocol/artifact.ts";
import type { StoredTask } from "../../protocol/serial.ts";

/**
 * Numbers a task's artifacts from 0, in the order in which they first appear; the order never changes. 0.1 has no artifact ids and identifies
 * artifacts by these numbers. The stream state of the codecs of 0.1.
 */
export class ArtifactNumbers {
  readonly #numbers = new Map<string, number>();

  /** `artifacts`: the stored artifacts that the task already has. */
  constructor(artifacts: string | undefined) {
    if (artifacts === undefined) return;
    // Safe: this program wrote the stored text.
    for (const { artifactId } of JSON.parse(artifacts) as readonly Artifact[]) this.of(artifactId);
  }

  /** The number of an artifact. An unknown id gets the next number, so call it in the order of the events. */
  of(artifactId: string): number {
    const known = this.#numbers.get(artifactId);
    if (known !== undefined) return known;
    const next = this.#numbers.size;
    this.#numbers.set(artifactId, next);
    return next;
  }
}

/** For a stream that opens with `task`. `artifacts`: the stored artifacts if the opening omits them. */
export function artifactNumbersOf(task: StoredTask, artifacts: string | undefined): ArtifactNumbers {
  const { large } = task;
  if (large?.artifacts === undefined) return new ArtifactNumbers(task.artifacts ?? artifacts);
  const numbers = new ArtifactNumbers(undefined);
  for (const artifactId of large.artifacts.ids) numbers.of(artifactId);
  return numbers;
}
