// Tasks that are too large for one string. The store returns such a task with placeholders instead of its artifacts and its history. The
// codec encodes the task as usual, and this file then replaces the encoded placeholders by pieces that are read, encoded and sent one by
// one:
//
// `{"id":"t1","artifacts":[PLACEHOLDER]}` becomes `{"id":"t1","artifacts":[`, then many pieces, then `]}`.

import type { Artifact } from "../protocol/artifact.ts";
import type { ContextId, TaskId } from "../protocol/ids.ts";
import {
  type ArtifactPiece,
  PLACEHOLDER_ARTIFACT,
  PLACEHOLDER_MESSAGE,
  PLACEHOLDER_PART,
  PLACEHOLDER_TEXT,
} from "../protocol/large-members.ts";
import type { OperationResult } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import { type StoredTask, writeStatus } from "../protocol/serial.ts";
import type { Codec, LargeTaskFormat } from "./codec.ts";

/** How a dialect encodes single members of a task as JSON text. */
export interface MemberFormat {
  /** `index`: the position of the artifact in the task, from 0. */
  artifact(artifact: Artifact, index: number): string;
  /** Takes stored parts and returns encoded parts, both separated by commas and without brackets. */
  parts(stored: string): string;
  /** Encodes a stored message. */
  message(stored: string): string;
}

/** For dialects that write artifacts and messages as arrays of JSON objects. */
export function largeTaskFormat(format: MemberFormat): LargeTaskFormat {
  return {
    artifactsPlaceholder: format.artifact(PLACEHOLDER_ARTIFACT, 0),
    artifacts: (pieces) => artifactTexts(format, pieces),
    historyPlaceholder: format.message(PLACEHOLDER_MESSAGE),
    message: (stored) => format.message(stored),
  };
}

/** Implements `MemberFormat.parts` for a dialect that encodes each part separately. */
export function partsBy(partObject: (part: Part) => object): (stored: string) => string {
  return (stored) => {
    // Safe: this program wrote the stored text.
    const parts = JSON.parse(`[${stored}]`) as readonly Part[];
    return JSON.stringify(parts.map(partObject)).slice(1, -1);
  };
}

/**
 * Encodes an artifact with a placeholder part and cuts the text there: the first half opens the artifact, the second half closes it. A text
 * part that arrives in several pieces is opened and closed in the same way.
 */
async function* artifactTexts(format: MemberFormat, pieces: AsyncIterable<ArtifactPiece>): AsyncGenerator<string> {
  const place = format.parts(JSON.stringify(PLACEHOLDER_PART));
  const textAt = place.indexOf(PLACEHOLDER_TEXT);
  const textBegins = place.slice(0, textAt);
  const textEnds = place.slice(textAt + PLACEHOLDER_TEXT.length);
  let index = 0;
  let end = "";
  let separator = "";
  let isInText = false;
  for await (const piece of pieces) {
    if (piece.kind === "text") {
      yield isInText ? piece.json : separator + textBegins + piece.json;
      isInText = true;
      separator = ",";
      continue;
    }
    if (isInText) yield textEnds;
    isInText = false;
    if (piece.kind === "begin") {
      const text = format.artifact({ ...piece.artifact, parts: [PLACEHOLDER_PART] }, index);
      const at = text.indexOf(place);
      yield `${index === 0 ? "" : ","}${text.slice(0, at)}`;
      end = text.slice(at + place.length);
      separator = "";
      index += 1;
    } else if (piece.kind === "parts") {
      yield separator + format.parts(piece.parts);
      separator = ",";
    } else yield end;
  }
}

/** Yields an encoded text in pieces, with the placeholders replaced by the task's large artifacts and history. */
export async function* fillPlaceholders(text: string, task: StoredTask, codec: Codec): AsyncGenerator<string> {
  const { large } = task;
  if (large === undefined) {
    yield text;
    return;
  }
  const format = codec.largeTask(task);
  const places: { readonly at: number; readonly length: number; texts(): AsyncGenerator<string> }[] = [];
  const { artifacts, history } = large;
  if (artifacts !== undefined) {
    const { length } = format.artifactsPlaceholder;
    places.push({
      at: text.indexOf(format.artifactsPlaceholder),
      length,
      texts: () => format.artifacts(artifacts.read()),
    });
  }
  if (history !== undefined) {
    const { length } = format.historyPlaceholder;
    places.push({
      at: text.indexOf(format.historyPlaceholder),
      length,
      texts: () => messageTexts(format, history.read()),
    });
  }
  let from = 0;
  for (const { at, length, texts } of places.toSorted((a, b) => a.at - b.at)) {
    // The dialect does not write this member.
    if (at === -1) continue;
    yield text.slice(from, at);
    yield* texts();
    from = at + length;
  }
  yield text.slice(from);
}

async function* messageTexts(format: LargeTaskFormat, pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  let separator = "";
  for await (const page of pages) {
    for (const stored of page) {
      const text = format.message(stored);
      if (text === undefined) continue;
      yield separator + text;
      separator = ",";
    }
  }
}

/** Stands for the tasks of a list, which are then written one after the other. */
const PLACEHOLDER_TASK: StoredTask = {
  id: PLACEHOLDER_TEXT as TaskId, // Safe: ids are opaque.
  contextId: PLACEHOLDER_TEXT as ContextId, // As above.
  seq: 0,
  state: "submitted",
  status: writeStatus({ state: "submitted", timestamp: new Date(0).toISOString() }),
};

/** Yields `wrap(codec.encodeResult(result))` in pieces, with the large members of its tasks filled in. */
export async function* resultPieces(
  codec: Codec,
  result: OperationResult,
  wrap: (text: string) => string,
): AsyncGenerator<string> {
  if (result.kind === "task" || result.kind === "sent") {
    yield* fillPlaceholders(wrap(codec.encodeResult(result)), result.task, codec);
    return;
  }
  if (result.kind !== "tasks") {
    yield wrap(codec.encodeResult(result));
    return;
  }
  const place = codec.encodeResult({ kind: "task", task: PLACEHOLDER_TASK });
  const text = wrap(codec.encodeResult({ ...result, tasks: [PLACEHOLDER_TASK] }));
  const at = text.indexOf(place);
  yield text.slice(0, at);
  let separator = "";
  for (const task of result.tasks) {
    if (separator !== "") yield separator;
    yield* fillPlaceholders(codec.encodeResult({ kind: "task", task }), task, codec);
    separator = ",";
  }
  yield text.slice(at + place.length);
}
