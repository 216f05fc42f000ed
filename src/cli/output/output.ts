import type { RemoteStreamEvent, Sent } from "../../client/api.ts";
import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import type { PushConfig } from "../../protocol/operation.ts";
import type { Task } from "../../protocol/task.ts";
import type { Failure } from "./failure.ts";

/** As the protocol's result of listing tasks. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  /** Tasks on all pages. */
  readonly totalSize: number;
}

/** A result that is not a type of the protocol, as JSON and as text fields. */
export interface OwnResult {
  readonly json: unknown;
  readonly fields: readonly (readonly [label: string, value: string])[];
}

/** Writes the results of a command to standard output. */
export interface Output {
  card(card: AgentCard, chosen?: AgentInterface): Promise<void>;
  sent(sent: Sent): Promise<void>;
  /** `history`: also print the messages. */
  task(task: Task, options?: { readonly history: boolean }): Promise<void>;
  /** Prints one event of a stream when it arrives. */
  event(event: RemoteStreamEvent): Promise<void>;
  /** The stream has ended, with this task, if any. */
  streamEnd(task: Task | undefined): Promise<void>;
  /** `more`: the command that shows the next page. */
  tasks(page: TaskPage, more: string | undefined): Promise<void>;
  pushConfig(taskId: string, config: PushConfig): Promise<void>;
  pushConfigs(taskId: string, configs: readonly PushConfig[]): Promise<void>;
  /** Prints a result that the protocol does not define. */
  own(result: OwnResult): Promise<void>;
  /** As text on standard error; as JSON on standard output, where programs expect it. */
  failure(failure: Failure): Promise<void>;
}
