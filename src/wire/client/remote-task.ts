import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactId, ContextId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import { listOf, textOf, timeOf } from "../fields/answer-fields.ts";
import { asId, asObject, member, optionalJsonObject, optionalString } from "../fields/fields.ts";

type Reader<T> = (value: unknown, path: string) => T;

/** Readers of the fields that every version writes differently. */
export interface TaskFieldReaders {
  readonly message: Reader<Message>;
  readonly part: Reader<Part>;
  /** `undefined`: the agent sent no state, or "unspecified". */
  readonly state: Reader<TaskState | undefined>;
}

/** Readers of tasks from agents. Member names may be in camelCase or snake_case. */
export interface TaskReaders {
  readonly task: Reader<Task>;
  readonly artifact: Reader<Artifact>;
  readonly status: Reader<TaskStatus>;
}

/**
 * Creates the readers of one version from those of the fields that differ. They throw `invalid-params` with the path of an invalid field.
 */
export function taskReaders(fields: TaskFieldReaders): TaskReaders {
  const artifact: Reader<Artifact> = (value, path) => decodeArtifact(value, path, fields);
  const status: Reader<TaskStatus> = (value, path) => decodeStatus(value, path, fields);
  const task: Reader<Task> = (value, path) => decodeTask(value, path, { artifact, status, message: fields.message });
  return { task, artifact, status };
}

type TaskMembers = Omit<TaskReaders, "task"> & Pick<TaskFieldReaders, "message">;

/** Only the id is required. Absent artifacts and history stay absent: the agent did not send them, which is not the same as none. */
function decodeTask(value: unknown, path: string, read: TaskMembers): Task {
  const wire = asObject(value, path);
  const artifacts = member(wire, "artifacts");
  const history = member(wire, "history");
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  // Ids get their branded types here.
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
 * A status without state counts as `working`: the task has not ended and asks no question. The proto definition of 0.3 names the message
 * `update`.
 */
function decodeStatus(value: unknown, path: string, fields: TaskFieldReaders): TaskStatus {
  const wire = asObject(value, path);
  const message = member(wire, "message", "update");
  const timestamp = timeOf(member(wire, "timestamp"));
  const state = fields.state(member(wire, "state"), `${path}.state`);
  return {
    state: state ?? "working",
    ...(state === undefined && { isUnspecified: true }),
    ...(message !== undefined && { message: fields.message(message, `${path}.message`) }),
    ...(timestamp !== undefined && { timestamp }),
  };
}
