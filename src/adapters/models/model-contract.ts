import type { JsonObject, JsonValue } from "../../protocol/json.ts";

/**
 * A language model: the interface of the AI SDK's providers (`LanguageModelV4`, `ai` 7), as far as it is used here. Every model of such a provider
 * fits. The AI SDK itself is not needed.
 */
export interface Model {
  readonly provider: string;
  readonly modelId: string;
  doStream(call: ModelCall): PromiseLike<{ readonly stream: ReadableStream<ModelStreamPart> }>;
}

/** One call of a model. */
export interface ModelCall {
  readonly prompt: ModelMessage[];
  readonly tools?: ModelTool[];
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly responseFormat?: { readonly type: "json"; readonly schema?: JsonObject };
  readonly abortSignal?: AbortSignal;
}

export interface ModelTool {
  readonly type: "function";
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
}

/** Data of the provider, such as a signature, that it wants back with the next call. */
export interface ProviderOptions {
  readonly providerOptions?: Record<string, JsonObject>;
}

/** The content of a file: base64 or bytes, or a URL. */
export type ModelFileData =
  | { readonly type: "data"; readonly data: string | Uint8Array }
  | { readonly type: "url"; readonly url: URL };

/** One piece of a model's answer. Other types than those used here are ignored. */
export interface ModelStreamPart {
  readonly type: string;
  /** Of texts and reasoning: the block that it belongs to. */
  readonly id?: string;
  /** Of `text-delta` and `reasoning-delta`. */
  readonly delta?: string;
  /** Of `tool-call`; `input` is JSON text. */
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: string;
  /** Data of the provider by its name. */
  readonly providerMetadata?: object | undefined;
  /** Of `file`. */
  readonly mediaType?: string;
  readonly data?: ModelFileData;
  /** Of `finish`: why the model stopped. */
  readonly finishReason?: { readonly unified: string };
  /** Of `finish`. */
  readonly usage?: {
    readonly inputTokens: { readonly total: number | undefined; readonly cacheRead: number | undefined };
    readonly outputTokens: { readonly total: number | undefined; readonly reasoning: number | undefined };
  };
  /** Of `error`. */
  readonly error?: unknown;
}

/** A message of a model's prompt. */
export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: UserContent[] }
  | { readonly role: "assistant"; readonly content: AssistantContent[] }
  | { readonly role: "tool"; readonly content: ToolContent[] };

export type UserContent = TextContent | FileContent;

export interface TextContent {
  readonly type: "text";
  readonly text: string;
}

export interface FileContent {
  readonly type: "file";
  readonly mediaType: string;
  readonly filename?: string;
  readonly data: ModelFileData;
}

export type AssistantContent = TextContent | FileContent | ReasoningContent | ToolCallContent;

export interface ReasoningContent extends ProviderOptions {
  readonly type: "reasoning";
  readonly text: string;
}

export interface ToolCallContent extends ProviderOptions {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
}

export interface ToolContent {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output:
    | { readonly type: "json"; readonly value: JsonValue }
    | { readonly type: "error-text"; readonly value: string };
}
