/** A compiled graph of LangGraph 1 (`graph.compile()`), as far as it is used here. */
export interface LangGraphGraph {
  /** Keeps the graph's state. Absent: Palaver keeps it with the task. */
  checkpointer?: unknown;
  withConfig(config: object): LangGraphGraph;
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
  getState(config: object): Promise<LangGraphSnapshot>;
}

/** An agent of LangChain (`createAgent`), which has its graph inside. */
export interface LangChainAgent {
  readonly graph: LangGraphGraph;
}

/** The state of a thread. */
export interface LangGraphSnapshot {
  readonly values: unknown;
  /** The nodes that run next; empty: the graph has finished. */
  readonly next: readonly string[];
  readonly config: { readonly configurable?: { readonly checkpoint_id?: string } };
  readonly tasks: readonly { readonly interrupts?: readonly LangGraphInterrupt[] }[];
}

/** A call of `interrupt(value)` in a node. */
export interface LangGraphInterrupt {
  readonly id?: string;
  readonly value?: unknown;
}

/** A message in the stream of a graph. */
export interface LangGraphMessage {
  readonly id?: string;
  readonly content: unknown;
  getType(): string;
  /** Of a whole message of a model. */
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  /** Of a piece of a message of a model. `args` is a piece of JSON text. */
  readonly tool_call_chunks?: readonly {
    readonly index?: number;
    readonly id?: string;
    readonly name?: string;
    readonly args?: string;
  }[];
  readonly usage_metadata?: {
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly input_token_details?: { readonly cache_read?: number };
    readonly output_token_details?: { readonly reasoning?: number };
  };
  /** Of the result of a tool. */
  readonly tool_call_id?: string;
  readonly status?: string;
}

/** A checkpoint in the stream of a graph. */
export interface LangGraphCheckpointEvent {
  readonly config?: { readonly configurable?: { readonly checkpoint_id?: string; readonly checkpoint_ns?: string } };
  /** `step`: the number of the superstep that led to it. */
  readonly metadata?: { readonly step?: number };
}

/** Whether the graph has a checkpointer of its own. */
export function hasCheckpointer({ checkpointer }: LangGraphGraph): boolean {
  return typeof checkpointer === "object" && checkpointer !== null;
}
