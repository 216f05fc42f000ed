import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Model, ModelCall, ModelStreamPart, ProviderOptions } from "./model-contract.ts";
import type { ReplyWriter } from "./reply-writer.ts";
import { untilAborted } from "./until-aborted.ts";

/** A tool call of the model. `input` is JSON text as the model wrote it. */
export interface RequestedCall extends ProviderOptions {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** One block of reasoning. Some providers want it back with the results of the tools. */
export interface ReasoningBlock extends ProviderOptions {
  readonly text: string;
}

/** What a stream contains besides text and files, which are written as they arrive. */
export interface ReadReply {
  readonly calls: readonly RequestedCall[];
  readonly reasoning: readonly ReasoningBlock[];
  readonly usage: Readonly<Record<string, number>>;
  /** Why the model stopped, such as `stop` or `tool-calls`. */
  readonly finishReason?: string;
}

export interface ReadOptions {
  readonly output: ReplyWriter;
  readonly signal: AbortSignal;
  /** Milliseconds without any part of the answer after which the call has failed. */
  readonly stallTimeout: number;
  /** Characters of text, reasoning and tool inputs of one answer. */
  readonly maxOutput: number;
}

/** Characters of the reason for which a model stopped. */
const MAX_REASON = 64;

/** Calls the model and reads its answer. Rejects if the stream fails, stalls or ends too early; throws a `TaskFailure` for too large an answer. */
export async function readReply(
  model: Model,
  call: Omit<ModelCall, "abortSignal">,
  options: ReadOptions,
): Promise<ReadReply> {
  const stall = new StallTimer(options.stallTimeout);
  const abortSignal = AbortSignal.any([options.signal, stall.signal]);
  const collected = new Collected(options);
  try {
    const { stream } = await untilAborted(model.doStream({ ...call, abortSignal }), abortSignal);
    const reader = stream.getReader();
    try {
      for (;;) {
        const { done, value } = await untilAborted(reader.read(), abortSignal);
        if (done) break;
        stall.restart();
        await collected.take(value);
      }
    } finally {
      // Frees the connection; a stream that fails here has failed before.
      void reader.cancel().catch(() => {});
    }
  } finally {
    stall.stop();
  }
  return collected.result();
}

/** Aborts if it is not restarted in time. */
class StallTimer {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    this.stop();
    this.#timer = this.#start();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    const error = new Error(`The model sent nothing for ${this.#milliseconds} ms.`);
    return setTimeout(() => this.#controller.abort(error), this.#milliseconds);
  }
}

class Collected {
  readonly #options: ReadOptions;
  readonly #calls: RequestedCall[] = [];
  readonly #reasoning = new Map<string, ReasoningBlock>();
  #usage: Readonly<Record<string, number>> | undefined;
  #finishReason: string | undefined;
  #size = 0;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  async take(part: ModelStreamPart): Promise<void> {
    const { output, maxOutput } = this.#options;
    // An empty piece counts too: a stream of them must not go on forever.
    this.#size += 1 + (part.delta?.length ?? 0) + (part.input?.length ?? 0);
    if (this.#size > maxOutput)
      throw new TaskFailure("The model's answer is too large.", { code: "model-output-too-large" });
    switch (part.type) {
      case "error":
        throw part.error;
      case "text-delta":
        return output.text.write(part.delta ?? "");
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#addReasoning(part);
        return output.reasoning.write(part.delta ?? "");
      case "file":
        if (part.data !== undefined) await output.file(part.mediaType ?? "application/octet-stream", part.data);
        return;
      case "tool-call":
        this.#calls.push(requestedCall(part));
        return;
      case "finish":
        this.#usage = usageOf(part);
        this.#finishReason = part.finishReason?.unified;
        return;
    }
  }

  result(): ReadReply {
    if (this.#usage === undefined) throw new Error("The model's answer ended before it was complete.");
    const finishReason = this.#finishReason;
    return {
      calls: this.#calls,
      reasoning: [...this.#reasoning.values()],
      usage: this.#usage,
      ...(typeof finishReason === "string" && { finishReason: finishReason.slice(0, MAX_REASON) }),
    };
  }

  #addReasoning({ id = "", delta = "", providerMetadata }: ModelStreamPart): void {
    const before = this.#reasoning.get(id);
    this.#reasoning.set(id, { ...before, ...optionsOf(providerMetadata), text: (before?.text ?? "") + delta });
  }
}

function requestedCall(part: ModelStreamPart): RequestedCall {
  const { toolCallId: id = "", toolName: name = "", input = "", providerMetadata } = part;
  return { id, name, input, ...optionsOf(providerMetadata) };
}

/** What a provider adds to a part goes back to it with the same part. */
function optionsOf(providerMetadata: object | undefined): ProviderOptions {
  if (providerMetadata === undefined) return {};
  // Safe cast: the interface of the providers says that this is JSON.
  const providerOptions = JSON.parse(JSON.stringify(providerMetadata)) as Record<string, JsonObject>;
  return { providerOptions };
}

function usageOf({ usage }: ModelStreamPart): Readonly<Record<string, number>> {
  const counters = {
    inputTokens: usage?.inputTokens.total,
    cachedInputTokens: usage?.inputTokens.cacheRead,
    outputTokens: usage?.outputTokens.total,
    reasoningTokens: usage?.outputTokens.reasoning,
  };
  return Object.fromEntries(
    Object.entries(counters).flatMap(([name, value]) =>
      value !== undefined && Number.isFinite(value) && value >= 0 ? [[name, value]] : [],
    ),
  );
}
