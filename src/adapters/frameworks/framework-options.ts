import type { AgentDefinition, TaskContext } from "../../engine/agent/agent.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { HistoryOptions } from "../models/prompt.ts";

/** A tool call that a framework wants to have approved. */
export interface ApprovalRequest {
  readonly name: string;
  readonly input: JsonValue;
}

/** Declares an agent that a framework runs: its card and policies, and how the framework's events become those of the task. */
export interface FrameworkOptions extends Omit<AgentDefinition, "run" | "reply"> {
  /**
   * Whether the caller decides about a tool call for which the framework requests approval. Default true. Where it is false, the call is approved
   * without a question. A function must always return the same for the same call.
   */
  readonly approve?: boolean | ((request: ApprovalRequest, task: TaskContext) => boolean);
  /** Whether readers of the task see the tool calls and their results. Default true. */
  readonly toolEvents?: boolean;
  /** How much of the context's earlier messages the agent sees. Default: the last 50, up to about 8000 tokens. */
  readonly history?: HistoryOptions;
  /** `context` (default): the tasks of a caller in one context are one conversation. `task`: each task is a conversation of its own. */
  readonly thread?: "context" | "task";
}

/** The options of the adapter, and the definition of the agent. */
export function splitOptions<Options extends FrameworkOptions>({
  approve,
  toolEvents,
  history,
  thread,
  ...definition
}: Options): { readonly adapter: AdapterOptions; readonly definition: Omit<Options, keyof AdapterOptions> } {
  return {
    adapter: {
      approve: approve ?? true,
      toolEvents: toolEvents ?? true,
      history: history ?? {},
      thread: thread ?? "context",
    },
    definition,
  };
}

export interface AdapterOptions {
  readonly approve: NonNullable<FrameworkOptions["approve"]>;
  readonly toolEvents: boolean;
  readonly history: HistoryOptions;
  readonly thread: "context" | "task";
}
