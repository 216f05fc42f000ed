import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { TaskContext } from "../../engine/agent/agent.ts";
import { isJsonObject } from "../../protocol/json.ts";
import { askForServer } from "./ask-for-server.ts";
import { mcpFailure } from "./mcp-failure.ts";

/** A question in the result of a call. */
export interface InputRequest {
  readonly method: string;
  readonly params?: unknown;
}

/** Questions of one round. */
const MAX_REQUESTS = 20;

/** Asks the caller all questions of a result, and returns the answers under the same names. */
export async function answersFor(
  task: TaskContext,
  requests: Readonly<Record<string, InputRequest>>,
  key: string,
): Promise<Record<string, ElicitResult>> {
  const entries = Object.entries(requests);
  if (entries.length > MAX_REQUESTS)
    throw mcpFailure("mcp-too-many-questions", `The MCP server asked more than ${MAX_REQUESTS} questions at once.`);
  const questions = entries.map(([name, request]) => [name, questionOf(request)] as const);
  const answers: [string, ElicitResult][] = [];
  for (const [name, question] of questions) {
    answers.push([name, await askForServer(task, question, { name: `${key} ${name}` })]);
  }
  return Object.fromEntries(answers);
}

/** This client has announced that it answers questions for people, and nothing else. */
function questionOf({ method, params }: InputRequest): ElicitRequestParams {
  if (method !== "elicitation/create" || !isJsonObject(params))
    throw mcpFailure(
      "mcp-request-unsupported",
      `The MCP server requested ${JSON.stringify(method.slice(0, 100))}, which this agent does not support.`,
    );
  // Safe cast: the client has checked it.
  return params as unknown as ElicitRequestParams;
}
