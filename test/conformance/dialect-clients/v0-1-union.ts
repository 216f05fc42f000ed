import { isDeepStrictEqual } from "node:util";
import type { Frame, StreamEvent, Task } from "../neutral.ts";
import { asObject, wrong } from "../strict.ts";
import { createReaders } from "./shapes.ts";
import { REDUCTION_0_1 } from "./v0-1-reduction.ts";
import { readEvent as readOlderEvent, readTask as readOlderTask } from "./v0-1-shapes.ts";
import { SPELLING_0_3 } from "./v0-3-shapes.ts";

/**
 * Reads a task created in 0.1 for a request without a version: it has the members of 0.1 and of 0.3. Each reader sees
 * only the members of its version, and both must read the same.
 */
const { readTask: readNewerTask, readEvent: readNewerEvent } = createReaders(SPELLING_0_3);

const OLDER_ONLY = ["sessionId", "type", "index"];
const NEWER_ONLY = ["kind", "contextId", "messageId", "taskId", "referenceTaskIds", "artifactId", "extensions"];
const CHUNK_FLAGS = ["append", "lastChunk"];
/** Free-form members may have any names. */
const FREE = ["metadata", "data"];

export function readUnionTask(value: unknown): Task {
  const older = readOlderTask(without(value, NEWER_ONLY));
  const newer = readNewerTask(without(value, OLDER_ONLY));
  same(older, REDUCTION_0_1.task(newer));
  return older;
}

export function readUnionEvent(value: unknown): StreamEvent {
  const { id, artifact, ...rest } = asObject(value, "event");
  const inArtifact = artifact === undefined ? {} : { artifact: without(artifact, CHUNK_FLAGS) };
  const older = readOlderEvent(without(without(value, NEWER_ONLY), CHUNK_FLAGS, "artifact"));
  const newer = readNewerEvent(without({ ...rest, ...inArtifact }, OLDER_ONLY));
  if ("taskId" in newer && newer.taskId !== id) wrong("An event", "names two tasks", value);
  same(unnumbered(older), unnumbered(lessened(newer)));
  return older;
}

function lessened(event: StreamEvent): StreamEvent {
  const [frame] = REDUCTION_0_1.frames([{ ...event, id: undefined }]);
  if (frame === undefined) throw new Error("There is a frame.");
  return withoutId(frame);
}

function withoutId({ id: _none, ...event }: Frame): StreamEvent {
  return event;
}

/** A single event does not show the number of its artifact. */
function unnumbered(event: StreamEvent): StreamEvent {
  return event.kind === "artifact" ? { ...event, artifact: { ...event.artifact, artifactId: "" } } : event;
}

/** Removes members of these names at every depth, except inside a member named `except`. */
function without(value: unknown, names: readonly string[], except?: string): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, names, except));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !names.includes(name));
  return Object.fromEntries(
    kept.map(([name, content]: [string, unknown]) => [
      name,
      FREE.includes(name) || name === except ? content : without(content, names, except),
    ]),
  );
}

function same(older: unknown, newer: unknown): void {
  if (!isDeepStrictEqual(older, newer)) wrong("The members of both versions", "do not say the same", [older, newer]);
}
