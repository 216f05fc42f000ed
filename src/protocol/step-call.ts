/** A model or a tool that a step calls. */
export type StepCall = ModelStepCall | ToolStepCall;

export interface ModelStepCall {
  readonly kind: "model";
  /** The id of the model, such as `gpt-5`. */
  readonly name: string;
  /** Who runs the model, such as `openai`. */
  readonly provider?: string;
}

export interface ToolStepCall {
  readonly kind: "tool";
  readonly name: string;
  /** The id that the model gave the call. */
  readonly id?: string;
}

/** What is known of such a call after its end. It has no contents: no prompts, inputs or outputs. */
export interface StepCallResult {
  /** The model that answered. */
  readonly model?: string;
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  /** Why the model stopped, such as `stop` or `tool-calls`. */
  readonly finishReason?: string;
  /** The step has a result, but the call failed. */
  readonly failed?: boolean;
}
