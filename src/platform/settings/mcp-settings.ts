import { TASK_SUPPORTS, type TaskSupport } from "../../transport/mcp/contract.ts";
import { StartupError } from "../startup-error.ts";

/** How agents are served to clients of the Model Context Protocol. */
export interface McpOptions {
  /** `skills`: an agent with several skills is one tool per skill. `agents`: every agent is one tool. Default `skills`. */
  readonly tools?: "skills" | "agents" | undefined;
  /**
   * Milliseconds after which a call is answered with a task, if the client supports tasks; the client then polls it. Default 5000.
   */
  readonly taskAfter?: number | undefined;
  /** Milliseconds between two polls of a task, as a suggestion to clients. Default 1000. */
  readonly pollInterval?: number | undefined;
  /**
   * Which tools answer with a task, by the name of the tool or the id of the agent. `optional`: after `taskAfter`. `required`: always, and clients without
   * tasks are refused. `never`. Default `optional`.
   */
  readonly tasks?: Readonly<Record<string, TaskSupport>> | undefined;
  /**
   * Offer the tools `discover_agent` and `invoke_remote_agent`, which call agents at URLs that the client names. The option `outgoing` limits which addresses
   * they may call. No credentials are sent. Default false.
   */
  readonly callUrls?: boolean | undefined;
}

/** After validation. */
export type McpServerSettings = Required<{ [Key in keyof McpOptions]: Exclude<McpOptions[Key], undefined> }>;

/** `undefined`: MCP is not served. Throws a {@link StartupError} of kind `usage` for invalid values. */
export function mcpSettingsFrom(mcp: boolean | McpOptions | undefined): McpServerSettings | undefined {
  if (mcp === false) return undefined;
  const {
    tools = "skills",
    taskAfter = 5000,
    pollInterval = 1000,
    tasks = {},
    callUrls = false,
  } = mcp === true || mcp === undefined ? {} : mcp;
  if (tools !== "skills" && tools !== "agents")
    throw new StartupError("usage", `mcp.tools must be "skills" or "agents", not ${JSON.stringify(tools)}.`);
  for (const [name, value] of Object.entries({ taskAfter, pollInterval })) {
    if (!Number.isInteger(value) || value < 0 || value > MAX_MS)
      throw new StartupError(
        "usage",
        `mcp.${name} must be a whole number of milliseconds up to ${MAX_MS}, not ${String(value)}.`,
      );
  }
  for (const [name, support] of Object.entries(tasks)) {
    if (!TASK_SUPPORTS.includes(support))
      throw new StartupError(
        "usage",
        `mcp.tasks.${name} must be ${TASK_SUPPORTS.join(", ")}, not ${JSON.stringify(support)}.`,
      );
  }
  return { tools, taskAfter, pollInterval, tasks, callUrls };
}

/** An hour. */
const MAX_MS = 3_600_000;
