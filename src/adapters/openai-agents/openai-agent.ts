/** An agent of the OpenAI Agents SDK (`@openai/agents`). It is only passed on. */
export interface OpenAIAgent {
  readonly name: string;
}

/** Runs agents: a `Runner`, or the function `run` of the package. */
export interface OpenAIRunner {
  run(agent: OpenAIAgent, input: unknown, options: OpenAIRunOptions): Promise<OpenAIRun>;
}

export interface OpenAIRunOptions {
  readonly stream: true;
  readonly signal: AbortSignal;
  /** Model calls, counted from the beginning of the run. */
  readonly maxTurns: number;
}

/** A streamed run. */
export interface OpenAIRun extends AsyncIterable<OpenAIEvent> {
  readonly state: OpenAIRunState;
  readonly completed: Promise<void>;
}

/** The state of a run, which can be written as text and continued later. */
export interface OpenAIRunState {
  toString(): string;
  getInterruptions(): readonly OpenAIItem[];
  approve(item: OpenAIItem): void;
  reject(item: OpenAIItem, options?: { readonly message?: string }): void;
}

/** One event of a streamed run. Other types than those used here are ignored. */
export interface OpenAIEvent {
  readonly type: string;
  /** Of `raw_model_stream_event`. */
  readonly data?: {
    readonly type: string;
    readonly delta?: unknown;
    readonly response?: { readonly usage?: OpenAIUsage };
  };
  /** Of `run_item_stream_event`. */
  readonly name?: string;
  readonly item?: OpenAIItem;
}

/** An item of a run: a tool call, its output, or a request for approval. */
export interface OpenAIItem {
  readonly rawItem?: {
    readonly type?: string;
    readonly id?: string;
    readonly callId?: string;
    readonly name?: string;
    /** JSON text. */
    readonly arguments?: string;
  };
  readonly output?: unknown;
}

export interface OpenAIUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly inputTokensDetails?: unknown;
  readonly outputTokensDetails?: unknown;
}
