import type { Artifact } from "../protocol/artifact.ts";
import type { ArtifactEvent, TaskEvent } from "../protocol/event.ts";
import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import { type Part, textOf } from "../protocol/part.ts";
import { isTerminal } from "../protocol/state.ts";
import type { Task, TaskStatus } from "../protocol/task.ts";
import type { RemoteStreamEvent } from "./api.ts";
import { artifactChange } from "./artifact-change.ts";

/** An artifact up to a certain part. Parts are only ever added to the list, so that many of these share it. */
interface ArtifactMark {
  /** Everything but the parts. */
  readonly head: Artifact;
  readonly parts: Part[];
  readonly count: number;
}

/** Where a task is, and what it is called. */
export interface TaskPlace {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
}

/**
 * A task as its events add up. Every event it gives knows the task as it is after it; that task is made when somebody looks, because
 * most readers look at the last one only.
 */
export class TaskView {
  #place: TaskPlace | undefined;
  #status: TaskStatus | undefined;
  #artifacts: readonly ArtifactMark[] | undefined;
  #history: readonly Message[] | undefined;
  #metadata: JsonObject | undefined;

  get id(): TaskId | undefined {
    return this.#place?.taskId;
  }

  get contextId(): ContextId | undefined {
    return this.#place?.contextId || undefined;
  }

  get status(): TaskStatus | undefined {
    return this.#status;
  }

  get task(): Task | undefined {
    return this.#look()();
  }

  /** The first that is known of the task. */
  begin(task: Task): RemoteStreamEvent {
    this.#place = { taskId: task.id, contextId: task.contextId };
    this.#status = task.status;
    this.#history = task.history;
    this.#metadata = task.metadata;
    this.#artifacts = task.artifacts?.map(markOf);
    return { kind: "task", task };
  }

  /** One event more. `place` says which task it is about, where nothing is known yet. */
  add(event: TaskEvent, place: TaskPlace): RemoteStreamEvent {
    this.#place ??= place;
    if (this.#place.contextId === "" && place.contextId !== "") this.#place = place;
    if (event.kind === "status") this.#status = event.status;
    else this.#addArtifact(event);
    return withTask(event, this.#look());
  }

  /**
   * What must have happened for the task to be as it is now, as far as that can be told: events that lead there. A task that is
   * still at work may be told of by somebody who knows less than was told already; what is finished is as it is.
   */
  catchUp(task: Task): RemoteStreamEvent[] {
    const status = this.#status;
    if (this.#place === undefined || status === undefined || this.#place.taskId !== task.id) return [this.begin(task)];
    const isFinal = isTerminal(task.status.state);
    if (isTerminal(status.state) && !isFinal) return [];
    if (task.history !== undefined) this.#history = task.history;
    if (task.metadata !== undefined) this.#metadata = task.metadata;
    const place: TaskPlace = { taskId: task.id, contextId: task.contextId };
    const events: RemoteStreamEvent[] = [];
    for (const artifact of task.artifacts ?? []) {
      const known = this.#artifacts?.find(({ head }) => head.artifactId === artifact.artifactId);
      const change = artifactChange(known === undefined ? undefined : artifactOf(known), artifact);
      if (change === undefined || (change.kind === "outdated" && !isFinal)) continue;
      events.push(this.add(change.event, place));
    }
    const isNewer = isFinal || task.status.timestamp >= status.timestamp;
    if (isNewer && !isSameStatus(status, task.status)) {
      events.push(this.add({ kind: "status", status: task.status }, place));
    }
    return events;
  }

  #addArtifact({ artifact, append }: ArtifactEvent): void {
    const { parts, ...head } = artifact;
    const marks = [...(this.#artifacts ?? [])];
    const index = marks.findIndex((mark) => mark.head.artifactId === artifact.artifactId);
    const known = marks[index];
    if (known === undefined) marks.push(markOf(artifact));
    else if (append) {
      for (const part of parts) known.parts.push(part);
      marks[index] = { head: { ...known.head, ...head }, parts: known.parts, count: known.parts.length };
    } else marks[index] = markOf(artifact);
    this.#artifacts = marks;
  }

  /** Makes the task as it is now, now or later. */
  #look(): () => Task | undefined {
    const place = this.#place;
    const status = this.#status;
    const marks = this.#artifacts;
    const history = this.#history;
    const metadata = this.#metadata;
    let made: Task | undefined;
    return () => {
      if (place === undefined) return undefined;
      made ??= {
        id: place.taskId,
        contextId: place.contextId,
        status: status ?? UNKNOWN,
        ...(marks !== undefined && { artifacts: marks.map(artifactOf) }),
        ...(history !== undefined && { history }),
        ...(metadata !== undefined && { metadata }),
      };
      return made;
    };
  }
}

/** Of a task whose agent speaks of its artifacts before it says how it is. */
const UNKNOWN: TaskStatus = { state: "working", timestamp: new Date(0).toISOString() };

function markOf(artifact: Artifact): ArtifactMark {
  return { head: artifact, parts: [...artifact.parts], count: artifact.parts.length };
}

function artifactOf({ head, parts, count }: ArtifactMark): Artifact {
  return { ...head, parts: parts.length === count ? [...parts] : parts.slice(0, count) };
}

function withTask(event: TaskEvent, look: () => Task | undefined): RemoteStreamEvent {
  return Object.defineProperty({ ...event }, "task", { enumerable: true, get: look }) as TaskEvent & {
    readonly task: Task;
  };
}

/** Agents that leave out times and ids are taken by their words. */
export function isSameStatus(a: TaskStatus, b: TaskStatus): boolean {
  if (a.state !== b.state || a.timestamp !== b.timestamp || a.message?.messageId !== b.message?.messageId) return false;
  return textOf(a.message?.parts ?? []) === textOf(b.message?.parts ?? []);
}
