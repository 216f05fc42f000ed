import type { TaskId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { textOf } from "../../protocol/part.ts";
import { readTask, type StoredTask } from "../../protocol/serial.ts";
import { isTerminal } from "../../protocol/state.ts";
import { AGENT_FAILED, type Task } from "../../protocol/task.ts";
import { errorResult, resultOfTask } from "./content.ts";
import type { ClientAbilities, McpSettings, ToolResult } from "./contract.ts";
import { openQuestions, requestsFor } from "./questions.ts";

/** A task of one agent. */
export interface TaskName {
  readonly agent: string;
  readonly id: TaskId;
}

/** The id of a task in MCP: the ids of the agent and the task. Ids of agents have no colon. */
export function mcpTaskId({ agent, id }: TaskName): string {
  return `${agent}:${id}`;
}

/** Reverses {@link mcpTaskId}; `undefined` for other texts. */
export function readMcpTaskId(text: string): TaskName | undefined {
  const colon = text.indexOf(":");
  if (colon <= 0 || colon === text.length - 1) return undefined;
  // Safe cast: an id that no task has finds nothing.
  return { agent: text.slice(0, colon), id: text.slice(colon + 1) as TaskId };
}

/** The result of a tool for a stored task that has ended. */
export function toolResultOf(stored: StoredTask): ToolResult {
  const task = readTask(stored);
  if (stored.large?.artifacts === undefined) return resultOfTask(task);
  const whole = resultOfTask({ ...task, artifacts: [] });
  const note = errorResult("The result is too large for MCP (over 8 MB). Read the task over A2A.");
  return { ...whole, ...note };
}

type Status = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** The members that every task of MCP has. */
export function taskMembers(agent: string, stored: StoredTask, settings: McpSettings): JsonObject {
  const task = readTask({ ...stored, artifacts: "[]" });
  const updated = task.status.timestamp ?? new Date(0).toISOString();
  const text = textOf(task.status.message?.parts ?? []);
  const created = stored.createdAt === undefined ? updated : new Date(stored.createdAt).toISOString();
  return {
    taskId: mcpTaskId({ agent, id: stored.id }),
    status: statusOf(task),
    ...(text !== "" && { statusMessage: text.slice(0, 1000) }),
    createdAt: created,
    lastUpdatedAt: updated,
    ttlMs: ttlOf(task, { created, updated, keptMs: settings.keptMs }),
    pollIntervalMs: settings.pollIntervalMs,
  };
}

interface Times {
  readonly created: string;
  readonly updated: string;
  readonly keptMs: number | undefined;
}

/** Milliseconds from the creation of a task to its deletion; `null` while that is not known. */
function ttlOf({ status }: Task, { created, updated, keptMs }: Times): number | null {
  if (keptMs === undefined || !isTerminal(status.state)) return null;
  return Math.max(0, Date.parse(updated) - Date.parse(created)) + keptMs;
}

/** A task with its result, its error or its questions, as `tasks/get` returns it. */
export function detailedTask(
  agent: string,
  stored: StoredTask,
  { settings, client }: { readonly settings: McpSettings; readonly client: ClientAbilities },
): JsonObject {
  const members = taskMembers(agent, stored, settings);
  const { status } = readTask({ ...stored, artifacts: "[]" });
  if (members["status"] === "completed")
    return { ...members, result: { resultType: "complete", ...toJson(toolResultOf(stored)) } };
  if (members["status"] === "failed") return { ...members, error: { code: INTERNAL_ERROR, message: AGENT_FAILED } };
  if (members["status"] !== "input_required") return members;
  const inputRequests = requestsFor(openQuestions(status), client, ({ id }) => id);
  // A client that can show none of the questions must not wait for requests that never come.
  if (Object.keys(inputRequests).length === 0) return { ...members, status: "working" };
  return { ...members, inputRequests: toJson(inputRequests) };
}

const INTERNAL_ERROR = -32603;

/** `failed` is for errors of the protocol only, so a task that its agent failed or rejected is `completed`, and its result is an error. */
function statusOf({ status }: Task): Status {
  switch (status.state) {
    case "submitted":
    case "working":
      return "working";
    case "input-required":
    case "auth-required":
      return "input_required";
    case "canceled":
      return "cancelled";
    case "failed":
      return textOf(status.message?.parts ?? []) === AGENT_FAILED ? "failed" : "completed";
    default:
      return "completed";
  }
}

function toJson(value: object): JsonObject {
  // Safe cast: made of JSON only.
  return value as JsonObject;
}
