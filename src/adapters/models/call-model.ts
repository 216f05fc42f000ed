import { setTimeout as delay } from "node:timers/promises";
import { type StepContext, TaskAborted, type TaskContext } from "../../engine/agent/agent.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import { ContinuedText } from "./continued-text.ts";
import type { Model, ModelCall, ModelStreamPart } from "./model-contract.ts";
import { untilAborted } from "./until-aborted.ts";

/** A tool call of the model. `input` is JSON text as the model wrote it. */
export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** The answer to one model call, as its step stores it. */
export interface ModelReply {
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  readonly usage: Readonly<Record<string, number>>;
  readonly model: string;
  /** Why the model stopped, such as `stop` or `tool-calls`. */
  readonly finishReason?: string;
}

export interface CallOptions {
  /** The first that answers is used. */
  readonly models: readonly Model[];
  /** How often a call of one model is repeated after a failure. */
  readonly retries: number;
  /** Milliseconds without any part of the answer after which a call has failed. */
  readonly stallTimeout: number;
  /** Characters of text and tool inputs of one answer. */
  readonly maxOutput: number;
}

const FIRST_PAUSE = 500;
const MAX_PAUSE = 30_000;

/**
 * Calls the models in their order, each with retries, until one has answered. Writes the text to the result as it arrives. Throws a `TaskFailure`:
 * `model-failed` if none has answered, `model-output-too-large`.
 */
export async function callModel(
  { task, step, before }: { readonly task: TaskContext; readonly step: StepContext; readonly before: string },
  call: Omit<ModelCall, "abortSignal">,
  options: CallOptions,
): Promise<ModelReply> {
  const output = new ContinuedText(task, before);
  let failures = 0;
  for (const model of options.models) {
    for (let tries = 0; tries <= options.retries; tries++) {
      output.begin();
      try {
        const { usage, ...reply } = await readReply(model, call, { output, signal: step.signal, options });
        await output.end();
        return { text: output.text, ...reply, usage: { ...usage, modelFailures: failures }, model: model.modelId };
      } catch (error) {
        if (step.signal.aborted) throw step.signal.reason;
        if (error instanceof TaskFailure || error instanceof TaskAborted) throw error;
        failures++;
        task.log.warn("A model call failed", { model: model.modelId, try: tries + 1, error });
        if (!isRetryable(error)) break;
        if (tries < options.retries) await delay(pauseAfter(tries), undefined, { signal: step.signal });
      }
    }
  }
  // The text of the provider's error may contain anything, so the caller does not see it.
  throw new TaskFailure("The model did not answer.", { code: "model-failed", data: { failures } });
}

interface Reading {
  readonly output: ContinuedText;
  readonly signal: AbortSignal;
  readonly options: CallOptions;
}

async function readReply(
  model: Model,
  call: Omit<ModelCall, "abortSignal">,
  { output, signal, options }: Reading,
): Promise<Pick<ModelReply, "calls" | "usage" | "finishReason">> {
  const stalled = new AbortController();
  const abortSignal = AbortSignal.any([signal, stalled.signal]);
  const watch = (): NodeJS.Timeout =>
    setTimeout(
      () => stalled.abort(new Error(`The model sent nothing for ${options.stallTimeout} ms.`)),
      options.stallTimeout,
    );
  let timer = watch();
  const calls: RequestedCall[] = [];
  let usage: Readonly<Record<string, number>> | undefined;
  let finishReason: string | undefined;
  let size = 0;
  try {
    const { stream } = await untilAborted(model.doStream({ ...call, abortSignal }), abortSignal);
    const reader = stream.getReader();
    try {
      for (;;) {
        const { done, value } = await untilAborted(reader.read(), abortSignal);
        if (done) break;
        clearTimeout(timer);
        timer = watch();
        size += sizeOf(value);
        if (size > options.maxOutput)
          throw new TaskFailure("The model's answer is too large.", { code: "model-output-too-large" });
        if (value.type === "error") throw value.error;
        if (value.type === "text-delta") await output.write(value.delta ?? "");
        else if (value.type === "tool-call") calls.push(requestedCall(value));
        else if (value.type === "finish") {
          usage = usageOf(value);
          finishReason = value.finishReason?.unified;
        }
      }
    } finally {
      // Frees the connection; a stream that fails here has failed before.
      void reader.cancel().catch(() => {});
    }
  } finally {
    clearTimeout(timer);
  }
  if (usage === undefined) throw new Error("The model's answer ended before it was complete.");
  return { calls, usage, ...(typeof finishReason === "string" && { finishReason: finishReason.slice(0, 64) }) };
}

function sizeOf({ delta, input }: ModelStreamPart): number {
  return (delta?.length ?? 0) + (input?.length ?? 0);
}

function requestedCall({ toolCallId = "", toolName = "", input = "" }: ModelStreamPart): RequestedCall {
  return { id: toolCallId, name: toolName, input };
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

/** The AI SDK marks its errors: a wrong key or an unknown model will fail again. */
function isRetryable(error: unknown): boolean {
  return !(typeof error === "object" && error !== null && "isRetryable" in error && error.isRetryable === false);
}

function pauseAfter(tries: number): number {
  return Math.min(FIRST_PAUSE * 2 ** tries, MAX_PAUSE);
}
