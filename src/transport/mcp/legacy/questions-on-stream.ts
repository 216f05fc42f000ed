import { A2AError } from "../../../protocol/error.ts";
import type { TaskId } from "../../../protocol/ids.ts";
import type { JsonObject } from "../../../protocol/json.ts";
import { readStatus } from "../../../protocol/serial.ts";
import type { McpRequest } from "../face.ts";
import { readWholeTask } from "../follow-task.ts";
import { callAgent } from "../operation.ts";
import { openQuestions } from "../questions.ts";
import { answerQuestions } from "../run-tool.ts";
import { type SealOptions, seal, unseal } from "./sealed-text.ts";

/** A question of a task. */
interface AskedQuestion {
  readonly agent: string;
  readonly id: TaskId;
  /** The id of the question. */
  readonly question: string;
}

/**
 * The id of a request to the client for a question. It contains the question, signed for the caller, so that any node can take the response, also after a
 * restart.
 */
export function requestId(request: McpRequest, { agent, id, question }: AskedQuestion): string {
  return seal({ a: agent, t: id, q: question }, options(request));
}

/** Takes the client's response to a request of this server. A response to anything else is `invalid-request`. */
export async function takeResponse(request: McpRequest, body: JsonObject): Promise<void> {
  const { id, result, error } = body;
  const value = typeof id === "string" ? unseal(id, options(request)) : undefined;
  const { a: agent, t: taskId, q: question } = value ?? {};
  if (typeof agent !== "string" || typeof taskId !== "string" || typeof question !== "string")
    throw new A2AError("invalid-request", "id: does not name an open request of the server to this client");
  const { signal } = request.exchange;
  const caller = await callAgent(request, agent, { signal, meta: {} });
  // Safe cast: the id was signed by this server.
  const task = await readWholeTask(caller.service, caller.scope, taskId as TaskId);
  // A client that fails to ask its user has declined for it.
  const response = error === undefined ? (result ?? null) : { action: "decline" };
  await answerQuestions(caller, task, {
    questions: openQuestions(readStatus(task.status)),
    responses: new Map([[question, response]]),
  });
}

function options({ face, principal }: McpRequest): SealOptions {
  return { key: face.settings.key, binding: `mcp question\0${principal.id}` };
}
