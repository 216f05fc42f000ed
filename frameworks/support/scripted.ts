import { once } from "node:events";
import type { PromptMessage, ScriptedAnswer } from "./script-server.ts";

/** Asks the script server what a model answers. */
export async function scriptedAnswer(prompt: readonly PromptMessage[]): Promise<ScriptedAnswer> {
  const answer = (await post("/model", prompt)) as ScriptedAnswer;
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

/** Reports to the script server that a tool runs. */
export async function reportTool(name: string): Promise<void> {
  await post("/tool", name);
}

/** Waits until the signal aborts, and rejects then. */
export async function stalled(signal: AbortSignal | undefined): Promise<never> {
  if (signal === undefined) return new Promise<never>(() => setInterval(() => {}, 1000));
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}

async function post(path: string, body: unknown): Promise<unknown> {
  const url = process.env["SCRIPT_URL"];
  if (url === undefined) throw new Error("SCRIPT_URL is not set.");
  const response = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
  return response.json();
}
