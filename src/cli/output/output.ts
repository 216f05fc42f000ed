import type { RemoteStreamEvent, Sent } from "../../client/api.ts";
import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import type { PushConfig } from "../../protocol/operation.ts";
import type { Task } from "../../protocol/task.ts";
import type { Failure } from "./failure.ts";

export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** A result that no type of the protocol stands for, in both forms. */
export interface OwnResult {
  readonly json: unknown;
  readonly fields: readonly (readonly [label: string, value: string])[];
}

/** What a command has to say to whoever asked. It goes to standard output and nothing else does. */
export interface Output {
  card(card: AgentCard, chosen?: AgentInterface): Promise<void>;
  sent(sent: Sent): Promise<void>;
  /** `history`: what was said is of interest as well. */
  task(task: Task, options?: { readonly history: boolean }): Promise<void>;
  /** One event of a stream, as it happens. */
  event(event: RemoteStreamEvent): Promise<void>;
  /** The stream is over, with this task, if there is one. */
  streamEnd(task: Task | undefined): Promise<void>;
  tasks(page: TaskPage, more: string | undefined): Promise<void>;
  pushConfig(taskId: string, config: PushConfig): Promise<void>;
  pushConfigs(taskId: string, configs: readonly PushConfig[]): Promise<void>;
  own(result: OwnResult): Promise<void>;
  failure(failure: Failure): Promise<void>;
}
