import type { ArtifactId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Part } from "./part.ts";

export interface Artifact {
  readonly artifactId: ArtifactId;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly extensions?: readonly string[];
  readonly metadata?: JsonObject;
}
