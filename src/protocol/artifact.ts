import type { ArtifactId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Part } from "./part.ts";

/**
 * A result of a task (A2A 1.0 §4.1.7). Results belong in artifacts, not in messages: a client may miss messages, but every reader of the
 * task gets its artifacts (A2A 1.0 §3.7).
 */
export interface Artifact {
  readonly artifactId: ArtifactId;
  /** For people: shown as a title. Not unique; `artifactId` identifies the artifact. */
  readonly name?: string;
  /** For people and language models: what the artifact contains. */
  readonly description?: string;
  /** At least one in an artifact that is sent. When a task is read, adjacent plain texts are merged into one part. */
  readonly parts: readonly Part[];
  /** URIs of the extensions whose data `metadata` contains, each under its URI. */
  readonly extensions?: readonly string[];
  readonly metadata?: JsonObject;
}

/** Marks an artifact with the reasoning of a model. It is for readers, and no part of the conversation. */
export const REASONING_METADATA: JsonObject = { kind: "reasoning" };

export function isReasoning({ metadata }: Pick<Artifact, "metadata">): boolean {
  return metadata?.["kind"] === REASONING_METADATA["kind"];
}
