import type { ArtifactWriter, TaskContext } from "../../engine/agent/agent.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import { isWithoutContent } from "../../protocol/merged-parts.ts";

/** The names of relayed artifacts by their remote ids. */
export type ArtifactNames = Readonly<Record<string, string>>;

/**
 * Writes the artifacts of a remote task. An artifact keeps its name, or else its id; if the name is taken it gets another one. If the remote agent
 * replaces an artifact, it is replaced here too.
 */
export class RelayedArtifacts {
  readonly #task: TaskContext;
  readonly #names: Map<string, string>;
  readonly #used: Set<string>;
  readonly #writers = new Map<string, ArtifactWriter>();

  constructor(task: TaskContext, names: ArtifactNames, used: readonly string[]) {
    this.#task = task;
    this.#names = new Map(Object.entries(names));
    this.#used = new Set(used);
  }

  get names(): ArtifactNames {
    return Object.fromEntries(this.#names);
  }

  /** All names that are taken, including those of earlier rounds. */
  get used(): readonly string[] {
    return [...this.#used];
  }

  /** An append to an unknown artifact creates it. */
  async write({ artifact, append, lastChunk }: Omit<ArtifactEvent, "kind">): Promise<void> {
    const known = this.#names.get(artifact.artifactId);
    // The last chunk may have no parts; an empty list would be written as a value.
    const isBare = artifact.parts.length === 0 || (append && known !== undefined && isWithoutContent(artifact.parts));
    const parts = isBare ? undefined : artifact.parts;
    if (known !== undefined && !append) {
      const writer = this.#writer(artifact, known);
      await writer.replace(parts ?? { text: "" });
      if (lastChunk) await writer.end();
      return;
    }
    const name = known ?? this.#newName(artifact);
    const writer = this.#writers.get(name) ?? this.#writer(artifact, name);
    if (lastChunk) await writer.end(parts);
    else if (parts !== undefined) await writer.write(parts);
  }

  /** Created for a new or replaced artifact; later chunks reuse it. */
  #writer({ description, metadata, extensions }: Artifact, name: string): ArtifactWriter {
    const writer = this.#task.artifact(name, {
      ...(description !== undefined && { description }),
      ...(metadata !== undefined && { metadata }),
      ...(extensions !== undefined && { extensions }),
    });
    this.#writers.set(name, writer);
    return writer;
  }

  /** `report`, then the artifact's id if `report` is taken, then `report (2)`. */
  #newName({ artifactId, name }: Artifact): string {
    const first = name || artifactId;
    const isFree = (candidate: string): boolean => candidate !== "" && !this.#used.has(candidate);
    let chosen = isFree(first) ? first : artifactId;
    for (let count = 2; !isFree(chosen); count++) chosen = `${first} (${count})`;
    this.#used.add(chosen);
    this.#names.set(artifactId, chosen);
    return chosen;
  }
}
