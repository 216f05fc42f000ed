import type { Artifact } from "./artifact.ts";
import type { ArtifactId } from "./ids.ts";
import type { Part } from "./part.ts";

/** Artifacts and history of a task that are too large for one text and are read in pieces. */
export interface LargeMembers {
  readonly artifacts?: LargeArtifacts;
  readonly history?: LargeHistory;
}

/** The artifacts of a task, read in pieces of bounded size, so that a large task needs little memory. */
export interface LargeArtifacts {
  /** In the order in which the artifacts first appeared; the pieces have the same order. */
  readonly ids: readonly ArtifactId[];
  /** Reads the pieces from the beginning. Throws if they can no longer be read, for example because the task was deleted. */
  read(): AsyncGenerator<ArtifactPiece>;
}

/** An artifact is one `begin`, any number of `parts` and `text`, and one `end`. */
export type ArtifactPiece =
  /** The artifact without its parts: `parts` is empty. */
  | { readonly kind: "begin"; readonly artifact: Artifact }
  /** Parts in their stored form, separated by commas; at least one. */
  | { readonly kind: "parts"; readonly parts: string }
  /**
   * A piece of a plain text part, escaped as inside a JSON string. Consecutive pieces of this kind belong to one part, which ends at the next
   * piece of another kind.
   */
  | { readonly kind: "text"; readonly json: string }
  | { readonly kind: "end" };

/** The history of a task, read in pages. */
export interface LargeHistory {
  /** Messages in their stored form, oldest first, a few per piece. Throws as `LargeArtifacts.read` does. */
  read(): AsyncGenerator<readonly string[]>;
}

/**
 * Placeholders for the pieces in a task. A codec encodes the task with its placeholders; the transport finds them in the encoded text and replaces
 * them by the pieces. They are random, so that no text of a caller contains them.
 */
const NONCE = crypto.randomUUID();
/** Stands where the text of an artifact begins. Dialects without artifacts (`plain`) write it as the text of a message. */
export const PLACEHOLDER_TEXT: string = `artifacts-${NONCE}`;
const MESSAGE_TEXT = `history-${NONCE}`;

/** Placeholder for the parts of one artifact. */
export const PLACEHOLDER_PART: Part = { text: PLACEHOLDER_TEXT };

/** Placeholder for all artifacts. It has a name as well, because not every version writes the id. */
export const PLACEHOLDER_ARTIFACT: Artifact = {
  artifactId: PLACEHOLDER_TEXT as ArtifactId, // Safe cast: ids are opaque strings.
  name: PLACEHOLDER_TEXT,
  parts: [PLACEHOLDER_PART],
};

/** Placeholder for all messages, in its stored form. */
export const PLACEHOLDER_MESSAGE: string = JSON.stringify({
  messageId: MESSAGE_TEXT,
  role: "ROLE_USER",
  parts: [{ text: MESSAGE_TEXT }],
});

/** `artifacts` of a task whose artifacts are large. */
export const PLACEHOLDER_ARTIFACTS: string = JSON.stringify([PLACEHOLDER_ARTIFACT]);
/** `history` of a task whose history is large. */
export const PLACEHOLDER_HISTORY: string = `[${PLACEHOLDER_MESSAGE}]`;
