import type { ModelMessage, ToolContent } from "../models/model-contract.ts";

/**
 * An agent of the AI SDK (`ai` 7), as far as it is used here: `ToolLoopAgent`, or any other implementation of its `Agent` interface. The AI SDK
 * itself is not needed.
 */
export interface AiSdkAgent {
  /** Tools by name. A tool without `execute` is run by the caller of the agent. */
  readonly tools?: object;
  stream(call: AiSdkCall): PromiseLike<{ readonly stream: AsyncIterable<AiSdkPart> }>;
}

export interface AiSdkCall {
  readonly messages: AiSdkMessage[];
  readonly abortSignal: AbortSignal;
  /** Called with the messages that a step has added. The agent waits for it before its next step, but not before its `finish-step` part. */
  readonly onStepEnd: (step: AiSdkStep) => Promise<void>;
}

export interface AiSdkStep {
  readonly response: { readonly messages: readonly object[] };
}

/** A message of the AI SDK. Other content than this is passed on as it is. */
export type AiSdkMessage =
  | Exclude<ModelMessage, { readonly role: "system" }>
  | { readonly role: "tool"; readonly content: AiSdkToolContent[] };

export type AiSdkToolContent =
  | ToolContent
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly output: { readonly type: "execution-denied"; readonly reason?: string };
    }
  | {
      readonly type: "tool-approval-response";
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    };

/** One part of the stream of an agent. Other types than those used here are ignored. */
export interface AiSdkPart {
  readonly type: string;
  /** Of `text-delta`. */
  readonly text?: string;
  /** Of `tool-call`, `tool-result`, `tool-error` and `tool-output-denied`. */
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  /** Of `tool-result`: more results of the same call follow. */
  readonly preliminary?: boolean;
  /** Of `tool-error` and `error`. */
  readonly error?: unknown;
  /** Of `tool-approval-request`. */
  readonly approvalId?: string;
  readonly isAutomatic?: boolean;
  readonly toolCall?: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown };
  /** Of `finish-step`. */
  readonly usage?: AiSdkUsage;
  /** Of `abort`. */
  readonly reason?: string;
}

export interface AiSdkUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly inputTokenDetails?: { readonly cacheReadTokens: number | undefined };
  readonly outputTokenDetails?: { readonly reasoningTokens: number | undefined };
}
