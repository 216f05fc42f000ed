import type { TaskEvent } from "../../protocol/event.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { textOf } from "../../protocol/part.ts";
import { isTerminal } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import type { RemoteStreamEvent } from "../api.ts";
import { RemoteError } from "../http/errors.ts";
import type { DigestRecord } from "./artifact-digests.ts";
import { ArtifactMemory, type ArtifactMemoryOptions } from "./artifact-memory.ts";

/** The ids of a task and its context. */
export interface TaskPlace {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
}

/**
 * The task that results from the events so far. Each returned event has the task as it is after the event; that task is built only when it is read,
 * because most readers use only the last one. For artifacts whose content is not kept, the view stores digests.
 */
export class TaskView {
  readonly #maxBytes: number;
  #place: TaskPlace | undefined;
  /** `undefined` until the first status arrives. Artifacts may arrive before it. */
  #status: TaskStatus | undefined;
  readonly #artifacts: ArtifactMemory;
  #hasArtifacts = false;
  #history: readonly Message[] | undefined;
  #metadata: JsonObject | undefined;
  /** After the latest event, if the agent sends it. */
  #generation: number | undefined;

  constructor(options: ArtifactMemoryOptions = {}) {
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
    this.#artifacts = new ArtifactMemory(options);
  }

  get id(): TaskId | undefined {
    return this.#place?.taskId;
  }

  get contextId(): ContextId | undefined {
    return this.#place?.contextId || undefined;
  }

  get status(): TaskStatus | undefined {
    return this.#status;
  }

  /** The task so far. Throws `result-too-large` if its artifacts were dropped. */
  get task(): Task | undefined {
    return this.#look()();
  }

  /** The task so far, without artifacts if they are not kept. */
  get known(): Task | undefined {
    if (!this.#artifacts.isTooLarge || this.#place === undefined) return this.task;
    return taskOf(this.#place, {
      status: this.#status,
      history: this.#history,
      metadata: this.#metadata,
      generation: this.#generation,
      artifacts: undefined,
    });
  }

  /** The digests of the artifacts, if their content is not kept. */
  get digests(): DigestRecord | undefined {
    return this.#artifacts.digests;
  }

  /** Starts with a task. `digests` describe artifacts that the task does not include. */
  begin(task: Task, digests?: DigestRecord): RemoteStreamEvent {
    this.#place = { taskId: task.id, contextId: task.contextId };
    this.#status = task.status;
    this.#history = task.history;
    this.#metadata = task.metadata;
    this.#generation = task.generation;
    this.#hasArtifacts = task.artifacts !== undefined;
    this.#artifacts.begin(task.artifacts ?? [], digests);
    return { kind: "task", task };
  }

  /** Adds an event. `place` names its task, in case nothing is known yet; `generation` is that of the task after the event, if known. */
  add(event: TaskEvent, place: TaskPlace, generation?: number): RemoteStreamEvent {
    this.#generation = generation;
    this.#place ??= place;
    if (this.#place.contextId === "" && place.contextId !== "") this.#place = place;
    if (event.kind === "status") this.#status = event.status;
    else {
      this.#hasArtifacts = true;
      this.#artifacts.add({ artifact: event.artifact, append: event.append });
    }
    return withTask(event, this.#look());
  }

  /**
   * The events that turn the known task into the given one, as far as they can be reconstructed. An unfinished task may be older than the view, so
   * earlier states are ignored; a finished task is final.
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
    const changeOf = this.#artifacts.comparison(task);
    for (const artifact of task.artifacts ?? []) {
      const change = changeOf(artifact);
      if (change === undefined || (change.kind === "outdated" && !isFinal)) continue;
      events.push(this.add(change.event, place, task.generation));
    }
    const isNewer = isFinal || isNotBefore(task.status.timestamp, status.timestamp);
    if (isNewer && !isSameStatus(status, task.status)) {
      events.push(this.add({ kind: "status", status: task.status }, place, task.generation));
    }
    return events;
  }

  /** A function that builds the task as it is now, whenever it is called. */
  #look(): () => Task | undefined {
    const place = this.#place;
    const status = this.#status;
    const history = this.#history;
    const metadata = this.#metadata;
    const generation = this.#generation;
    const isTooLarge = this.#artifacts.isTooLarge;
    const artifacts = this.#hasArtifacts ? this.#artifacts.snapshot() : undefined;
    let made: Task | undefined;
    return () => {
      if (place === undefined) return undefined;
      if (isTooLarge) throw tooLarge(place.taskId, this.#maxBytes);
      made ??= taskOf(place, { status, history, metadata, generation, artifacts: artifacts?.() });
      return made;
    };
  }
}

/** What is known about a task besides its ids. */
interface TaskFacts {
  readonly status: TaskStatus | undefined;
  readonly artifacts: Task["artifacts"] | undefined;
  readonly history: Task["history"] | undefined;
  readonly metadata: Task["metadata"] | undefined;
  readonly generation: number | undefined;
}

function taskOf({ taskId, contextId }: TaskPlace, facts: TaskFacts): Task {
  const { status, artifacts, history, metadata, generation } = facts;
  return {
    id: taskId,
    contextId,
    status: status ?? UNKNOWN,
    ...(artifacts !== undefined && { artifacts }),
    ...(history !== undefined && { history }),
    ...(metadata !== undefined && { metadata }),
    ...(generation !== undefined && { generation }),
  };
}

/** The status of a task whose artifacts arrive before its first status. */
const UNKNOWN: TaskStatus = { state: "working" };

function tooLarge(taskId: string, maxBytes: number): RemoteError {
  const text = `The task's artifacts take more than the ${maxBytes} bytes that its stream keeps (maxResultBytes). Use its events, or get the task.`;
  return new RemoteError("result-too-large", text, { taskId });
}

/** `task` is a getter, so that the task is built only if it is read. */
function withTask(event: TaskEvent, look: () => Task | undefined): RemoteStreamEvent {
  return Object.defineProperty({ ...event }, "task", { enumerable: true, get: look }) as TaskEvent & {
    readonly task: Task;
  };
}

/** A status without a timestamp counts as newer. */
function isNotBefore(time: string | undefined, other: string | undefined): boolean {
  return time === undefined || other === undefined || time >= other;
}

/** Compares state, timestamp, message id and text: some agents omit timestamps and ids. */
export function isSameStatus(a: TaskStatus, b: TaskStatus): boolean {
  if (a.state !== b.state || a.timestamp !== b.timestamp || a.message?.messageId !== b.message?.messageId) return false;
  return textOf(a.message?.parts ?? []) === textOf(b.message?.parts ?? []);
}
