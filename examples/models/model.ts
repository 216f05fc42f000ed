import { type Model, type ModelMessage, type ScriptedAnswer, scriptedModel } from "palaver/models";

/** The model of the environment (`MODEL=ollama/llama3.2`), or a script that stands for it, so that the examples run without a key. */
export function modelOr(script: (messages: readonly ModelMessage[]) => ScriptedAnswer): Model | string {
  return process.env["MODEL"] ?? scriptedModel(script);
}
