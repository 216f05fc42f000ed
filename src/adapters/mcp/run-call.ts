import type { TaskContext } from "../../engine/agent/agent.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { callOnce } from "../steps/call-once.ts";
import type { McpConnections } from "./connections/mcp-connections.ts";
import { answersFor, type InputRequest } from "./input-requests.ts";
import { type CallOutcome, type CallParameters, makeCall } from "./make-call.ts";
import type { McpSettings } from "./mcp-agent-options.ts";
import { mcpFailure } from "./mcp-failure.ts";
import type { ServerSkill } from "./server-skills.ts";

/** What calls need. */
export interface CallHost {
  readonly connections: McpConnections;
  readonly settings: McpSettings;
}

/** Rounds of questions of one call. */
const MAX_ROUNDS = 20;

/**
 * Calls the server for a task. Each round is a step: a server of 2026-07-28 may answer with questions and its own state, which are stored, so that the answers reach
 * it also after a restart of this process. A round that was cut off is made again only if that is harmless.
 */
export async function runCall(task: TaskContext, skill: ServerSkill, host: CallHost): Promise<void> {
  const { call } = skill;
  const { id } = skill.skill;
  const isRepeatable = call.kind !== "tool" || host.settings.repeatable(call.tool);
  let parameters: CallParameters = { arguments: argumentsOf(task) };
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const key = `${round} ${id}`;
    const outcome = await callOnce<CallOutcome>(task, {
      key,
      name: `call ${key}`,
      repeatable: isRepeatable,
      cutOff: () => ({ failure: { code: "mcp-call-cut-off", message: CUT_OFF } }),
      work: (step) => makeCall(task, { ...host, call, parameters, step, key }),
      options: { call: { kind: "tool", name: id, id: key }, describe: (result) => ({ failed: "failure" in result }) },
    });
    if (outcome.failure !== undefined) {
      const { code, message, data } = outcome.failure;
      throw mcpFailure(code, message, data === undefined ? {} : { data });
    }
    const { requests, state, isRetry } = outcome;
    if (requests === undefined) return;
    parameters = await nextRound(task, parameters, { requests, state, isRetry, key });
  }
  throw mcpFailure("mcp-too-many-questions", `The MCP server asked more than ${MAX_ROUNDS} times.`);
}

const CUT_OFF =
  "The server stopped while this tool ran. It is not known whether it had its effect, and it was not run again.";

interface Asked {
  readonly requests: Readonly<Record<string, InputRequest>>;
  readonly state?: string | undefined;
  /** The answers are not passed on: the server knows that they were given. */
  readonly isRetry?: boolean | undefined;
  readonly key: string;
}

async function nextRound(
  task: TaskContext,
  { arguments: given }: CallParameters,
  asked: Asked,
): Promise<CallParameters> {
  const { requests, state, isRetry, key } = asked;
  const inputResponses = await answersFor(task, requests, key);
  return {
    arguments: given,
    ...(isRetry !== true && { inputResponses }),
    ...(state !== undefined && { requestState: state }),
  };
}

/** The schema of the skill accepts only objects. */
function argumentsOf({ data }: TaskContext): JsonObject {
  return typeof data === "object" && data !== null && !Array.isArray(data) ? (data as JsonObject) : {};
}
