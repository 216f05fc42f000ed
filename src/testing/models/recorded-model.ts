import { relative } from "node:path";
import type { Model, ModelCall, ModelStreamPart } from "../../adapters/models/model-contract.ts";
import { writeRecorded } from "./recorded-json.ts";
import {
  callKey,
  callsOf,
  type RecordedCall,
  type Recording,
  readRecording,
  writeRecording,
} from "./recording-file.ts";

/** Settings of a recorded model. */
export interface RecordedModelOptions {
  /** The file with the recorded calls: JSON, to be kept with the tests. */
  readonly file: string;
  /**
   * `replay`: answers from the file, and fails for a call that it does not have. `record`: calls the model for those, and adds them to the file. Default: `record` if the
   * environment variable `RECORD_MODEL_CALLS` is `1`, else `replay`.
   */
  readonly mode?: "replay" | "record";
}

/** A model that also answers at once, as those of the AI SDK do. */
interface GeneratingModel extends Model {
  readonly doGenerate?: (call: ModelCall) => PromiseLike<unknown>;
}

/**
 * A model that answers from a file of recorded calls. The real model is made and called only while recording: `() => openai("gpt-5-mini")`. Calls are found by their
 * parameters (prompt, tools, settings), so a call that is repeated after a crash gets the same answer. Works with models of the AI SDK in any agent, also those of `fromAiSdk`.
 */
export function recordedModel<M extends Model>(model: () => M, options: RecordedModelOptions): M {
  const { file, mode = process.env["RECORD_MODEL_CALLS"] === "1" ? "record" : "replay" } = options;
  const known = readRecording(file);
  const calls = new Map(known === undefined ? [] : callsOf(known));
  let real: GeneratingModel | undefined;
  const realModel = (): GeneratingModel => (real ??= model());
  const { provider, modelId } = known ?? (mode === "record" ? realModel() : UNKNOWN);

  const answer = async (method: RecordedCall["method"], call: ModelCall): Promise<unknown> => {
    const text = callText(call);
    const found = calls.get(callKey(method, text));
    if (found !== undefined) return found.reply;
    if (mode === "replay") throw notRecorded(file, calls.size);
    const reply = await replyOf(realModel(), method, call);
    calls.set(callKey(method, text), { method, call: text, reply });
    const recording: Recording = { provider, modelId, calls: [...calls.values()] };
    writeRecording(file, recording);
    return reply;
  };
  const recorded = {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedUrls: {},
    async doStream(call: ModelCall) {
      const parts = await answer("doStream", call);
      return { stream: ReadableStream.from(Array.isArray(parts) ? parts : []) };
    },
    doGenerate: (call: ModelCall) => answer("doGenerate", call),
  };
  // The members of `LanguageModelV4`, which is what `M` has beyond `Model`.
  return recorded as unknown as M;
}

const UNKNOWN = { provider: "recorded", modelId: "unknown" };

async function replyOf(model: GeneratingModel, method: RecordedCall["method"], call: ModelCall): Promise<unknown> {
  if (method === "doStream") {
    const parts: ModelStreamPart[] = [];
    for await (const part of (await model.doStream(call)).stream) parts.push(part);
    return parts;
  }
  if (model.doGenerate === undefined) throw new TypeError(`The model ${model.modelId} has no doGenerate.`);
  return model.doGenerate(call);
}

/** The parameters that decide about the answer. Headers may hold keys. */
function callText(call: ModelCall & { readonly headers?: unknown }): string {
  const { abortSignal: _signal, headers: _headers, ...decisive } = call;
  return writeRecorded(decisive);
}

function notRecorded(file: string, count: number): Error {
  const name = relative(process.cwd(), file);
  const error = new Error(
    `${name} has no answer to this model call (it has ${count} others). Record it: RECORD_MODEL_CALLS=1 npm test`,
  );
  // The model agent must not try again.
  return Object.assign(error, { isRetryable: false });
}
