import type { Artifact } from "./artifact.ts";
import type { ArtifactId } from "./ids.ts";
import type { Part } from "./part.ts";

/** The artifacts and the history of a task, where they are too large to be one text: read piece by piece instead. */
export interface LargeMembers {
  readonly artifacts?: LargeArtifacts;
  readonly history?: LargeHistory;
}

export interface LargeArtifacts {
  /** In the order in which the artifacts first appeared, which is also the order of the pieces. */
  readonly ids: readonly ArtifactId[];
  /** Reads them from the beginning. Throws where they can no longer be read, because the task was deleted for example. */
  read(): AsyncGenerator<ArtifactPiece>;
}

/** An artifact is one `begin`, any number of `parts` and `text`, and one `end`. */
export type ArtifactPiece =
  /** The artifact without its parts: `parts` is empty. */
  | { readonly kind: "begin"; readonly artifact: Artifact }
  /** Parts in their stored spelling, separated by commas; at least one. */
  | { readonly kind: "parts"; readonly parts: string }
  /**
   * A piece of a plain text part, as it stands between the quotes of a JSON string. Pieces of this kind that follow each other belong to
   * one part, which ends where a piece of another kind comes.
   */
  | { readonly kind: "text"; readonly json: string }
  | { readonly kind: "end" };

export interface LargeHistory {
  /** Messages in their stored spelling, oldest first, a few at a time. Throws as `LargeArtifacts.read` does. */
  read(): AsyncGenerator<readonly string[]>;
}

/**
 * Texts that stand in a task where pieces belong, so that whoever encodes a task need not know of pieces: the place is found again in what
 * was encoded. Chosen at random, so that no caller's text contains them.
 */
const NONCE = crypto.randomUUID();
export const PLACEHOLDER_TEXT: string = `artifacts-${NONCE}`;
const MESSAGE_TEXT = `history-${NONCE}`;

/** Stands for the parts of one artifact. */
export const PLACEHOLDER_PART: Part = { text: PLACEHOLDER_TEXT };

/** Stands for all artifacts. Named as well, because not every version writes the id. */
export const PLACEHOLDER_ARTIFACT: Artifact = {
  artifactId: PLACEHOLDER_TEXT as ArtifactId, // Ids are opaque: any string will do.
  name: PLACEHOLDER_TEXT,
  parts: [PLACEHOLDER_PART],
};

/** Stands for all messages; in its stored spelling. */
export const PLACEHOLDER_MESSAGE: string = JSON.stringify({
  messageId: MESSAGE_TEXT,
  role: "ROLE_USER",
  parts: [{ text: MESSAGE_TEXT }],
});

/** `artifacts` of a task whose artifacts are large. */
export const PLACEHOLDER_ARTIFACTS: string = JSON.stringify([PLACEHOLDER_ARTIFACT]);
/** `history` of a task whose history is large. */
export const PLACEHOLDER_HISTORY: string = `[${PLACEHOLDER_MESSAGE}]`;
