import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactId, ContextId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import { listOf, textOf, timeOf } from "../fields/answer-fields.ts";
import { asId, asObject, member, optionalJsonObject, optionalString } from "../fields/fields.ts";

type Reader<T> = (value: unknown, path: string) => T;

/** What the versions spell each in its own way. */
export interface TaskFieldReaders {
  readonly message: Reader<Message>;
  readonly part: Reader<Part>;
  /** `undefined`: the agent does not say. */
  readonly state: Reader<TaskState | undefined>;
}

/** Readers of what agents send, in camel or in snake case. */
export interface TaskReaders {
  readonly task: Reader<Task>;
  readonly artifact: Reader<Artifact>;
  readonly status: Reader<TaskStatus>;
}

export function taskReaders(words: TaskFieldReaders): TaskReaders {
  const artifact: Reader<Artifact> = (value, path) => decodeArtifact(value, path, words);
  const status: Reader<TaskStatus> = (value, path) => decodeStatus(value, path, words);
  const task: Reader<Task> = (value, path) => decodeTask(value, path, { artifact, status, message: words.message });
  return { task, artifact, status };
}

type TaskMembers = Omit<TaskReaders, "task"> & Pick<TaskFieldReaders, "message">;

function decodeTask(value: unknown, path: string, read: TaskMembers): Task {
  const wire = asObject(value, path);
  const artifacts = member(wire, "artifacts");
  const history = member(wire, "history");
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  // Ids are branded here, where they enter.
  return {
    id: asId(member(wire, "id"), `${path}.id`) as TaskId,
    contextId: textOf(member(wire, "contextId", "context_id"), `${path}.contextId`) as ContextId,
    status: read.status(member(wire, "status"), `${path}.status`),
    ...(artifacts !== undefined && { artifacts: listOf(artifacts, `${path}.artifacts`, read.artifact) }),
    ...(history !== undefined && { history: listOf(history, `${path}.history`, read.message) }),
    ...(metadata !== undefined && { metadata }),
  };
}

function decodeArtifact(value: unknown, path: string, { part }: TaskFieldReaders): Artifact {
  const wire = asObject(value, path);
  const name = optionalString(member(wire, "name"), `${path}.name`);
  const description = optionalString(member(wire, "description"), `${path}.description`);
  const extensions = listOf(member(wire, "extensions"), `${path}.extensions`, textOf);
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  return {
    artifactId: asId(member(wire, "artifactId", "artifact_id"), `${path}.artifactId`) as ArtifactId,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    parts: listOf(member(wire, "parts"), `${path}.parts`, part),
    ...(extensions.length > 0 && { extensions }),
    ...(metadata !== undefined && { metadata }),
  };
}

/**
 * A task whose agent does not say its state is taken to be at work: it has not ended, and nobody is asked anything. A definition of the
 * protocol calls the message `update`.
 */
function decodeStatus(value: unknown, path: string, words: TaskFieldReaders): TaskStatus {
  const wire = asObject(value, path);
  const message = member(wire, "message", "update");
  const timestamp = timeOf(member(wire, "timestamp"));
  const state = words.state(member(wire, "state"), `${path}.state`);
  return {
    state: state ?? "working",
    ...(state === undefined && { isUnspecified: true }),
    ...(message !== undefined && { message: words.message(message, `${path}.message`) }),
    ...(timestamp !== undefined && { timestamp }),
  };
}
