import { isInterrupted, isTerminal, type TaskState } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import type { RemoteResult } from "../../wire/client/client-codec.ts";
import type { RemoteStreamEvent } from "../api.ts";
import type { FrameStream } from "../http/channel.ts";
import { RemoteError } from "../http/errors.ts";
import { isSameStatus, type TaskView } from "./task-view.ts";

/** When to stop following a task, and what is known about it already. */
export interface FollowedTaskOptions {
  readonly view: TaskView;
  /** Whether to stop following a task in this state. Terminal states always end it. */
  readonly stopsAt: (state: TaskState) => boolean;
  /** The question that the caller has answered. Receiving it again changes nothing. */
  readonly answered?: TaskStatus | undefined;
  /** The id of the last event that the view has, if the server numbers its events. */
  readonly cursor?: string | undefined;
}

/** A task while it is followed: its view, the position in its stream, and the question that the caller has answered. */
export class FollowedTask {
  readonly view: TaskView;
  readonly #stopsAt: (state: TaskState) => boolean;
  #answered: TaskStatus | undefined;
  /** The question in the first frame of a reply's stream was taken for the answered one. It may be a new one. */
  #answeredIsGuess = false;
  /** The id of the last event, if the server numbers its events. */
  cursor: string | undefined;

  constructor({ view, stopsAt, answered, cursor }: FollowedTaskOptions) {
    this.view = view;
    this.#stopsAt = stopsAt;
    this.#answered = answered;
    this.cursor = cursor;
  }

  /** The status with the question that the caller has answered; `undefined` if it is not known. */
  get answered(): TaskStatus | undefined {
    return this.#answered;
  }

  /** Remembers the question of this task as answered, if the task asks one. */
  markAnswered({ status }: Task): void {
    if (isInterrupted(status.state)) this.#answered = status;
  }

  /** Treats the current question as the answered one: the stream of a reply starts with the task as it was before the reply. */
  guessAnswered(): void {
    const { status } = this.view;
    if (this.#answered !== undefined || status === undefined || !isInterrupted(status.state)) return;
    this.#answered = status;
    this.#answeredIsGuess = true;
  }

  /** The task is finished, or in a state to stop at. */
  isSettled(): boolean {
    const { status } = this.view;
    if (status === undefined) return false;
    if (isTerminal(status.state)) return true;
    return this.#stopsAt(status.state) && !this.#isAnswered(status);
  }

  /** Whether the server ended the stream because the task asks a question. With `retry` it asks to reconnect instead. */
  endsWithQuestion({ retry }: Pick<FrameStream, "retry">): boolean {
    const { status } = this.view;
    if (status === undefined || !isInterrupted(status.state) || retry !== undefined) return false;
    return this.#answeredIsGuess || !this.#isAnswered(status);
  }

  /** The events by which a polled task differs from the view. They have no ids: resuming at the old cursor would repeat them. */
  catchUp(task: Task): readonly RemoteStreamEvent[] {
    const events = this.view.catchUp(task);
    if (events.length > 0) this.cursor = undefined;
    return events;
  }

  /** The events of an answer that is not a stream. */
  resultEvents(result: RemoteResult): readonly RemoteStreamEvent[] {
    if (result.kind === "replied") return [{ kind: "message", message: result.message }];
    if (result.kind === "sent" || result.kind === "task") return this.view.catchUp(result.task);
    throw new RemoteError("invalid-agent-response", "The agent answered with neither a task nor a message.");
  }

  #isAnswered(status: TaskStatus): boolean {
    return this.#answered !== undefined && isSameStatus(this.#answered, status);
  }
}
