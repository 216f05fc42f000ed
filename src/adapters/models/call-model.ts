import { setTimeout as delay } from "node:timers/promises";
import { type StepContext, TaskAborted, type TaskContext } from "../../engine/agent/agent.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { Model, ModelCall } from "./model-contract.ts";
import { type ReadReply, readReply } from "./read-reply.ts";
import type { ReplyWriter } from "./reply-writer.ts";

/** The answer to one model call, as its step stores it. */
export interface ModelReply extends ReadReply {
  readonly text: string;
  /** How many files the model returned; each is an artifact of its own. */
  readonly files: number;
  readonly model: string;
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
 * Calls the models in their order, each with retries, until one has answered. Writes the answer for its readers as it arrives. Throws a `TaskFailure`:
 * `model-failed` if none has answered, `model-input-unsupported` if none can read the message, `model-output-too-large`.
 */
export async function callModel(
  { task, step, output }: { readonly task: TaskContext; readonly step: StepContext; readonly output: ReplyWriter },
  call: Omit<ModelCall, "abortSignal">,
  { models, retries, stallTimeout, maxOutput }: CallOptions,
): Promise<ModelReply> {
  const { signal } = step;
  let failures = 0;
  let unsupported: string | undefined;
  for (const model of models) {
    for (let tries = 0; tries <= retries; tries++) {
      output.begin();
      try {
        const reply = await readReply(model, call, { output, signal, stallTimeout, maxOutput });
        await output.end();
        const usage = { ...reply.usage, modelFailures: failures };
        return { ...reply, usage, text: output.text.text, files: output.files, model: model.modelId };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (error instanceof TaskFailure || error instanceof TaskAborted) throw error;
        failures++;
        task.log.warn("A model call failed", { model: model.modelId, try: tries + 1, error });
        unsupported ??= unsupportedInput(error);
        if (!isRetryable(error)) break;
        if (tries < retries) await delay(pauseAfter(tries), undefined, { signal });
      }
    }
  }
  if (unsupported !== undefined && failures === models.length)
    throw new TaskFailure(`The model cannot read this message: ${unsupported} is not supported.`, {
      code: "model-input-unsupported",
    });
  // The text of the provider's error may contain anything, so the caller does not see it.
  throw new TaskFailure("The model did not answer.", { code: "model-failed", data: { failures } });
}

/** What the provider cannot send to its model, such as a media type. The AI SDK throws this error before it calls the model. */
function unsupportedInput(error: unknown): string | undefined {
  return error instanceof Error &&
    error.name === "AI_UnsupportedFunctionalityError" &&
    "functionality" in error &&
    typeof error.functionality === "string"
    ? error.functionality
    : undefined;
}

/** The AI SDK marks its errors: a wrong key or an unknown model will fail again. */
function isRetryable(error: unknown): boolean {
  if (unsupportedInput(error) !== undefined) return false;
  return !(typeof error === "object" && error !== null && "isRetryable" in error && error.isRetryable === false);
}

function pauseAfter(tries: number): number {
  return Math.min(FIRST_PAUSE * 2 ** tries, MAX_PAUSE);
}
