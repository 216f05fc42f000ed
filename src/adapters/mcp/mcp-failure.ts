import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { JsonObject } from "../../protocol/json.ts";

/** Why the task of an MCP agent failed: `code` in the data of its last status message. */
export type McpFailureCode =
  | "mcp-unavailable"
  | "mcp-connection-lost"
  | "mcp-timeout"
  | "mcp-message-too-large"
  | "mcp-tool-failed"
  | "mcp-call-refused"
  | "mcp-call-cut-off"
  | "mcp-tool-gone"
  | "mcp-result-invalid"
  | "mcp-request-unsupported"
  | "mcp-too-many-questions";

/** A failure with a message that the caller reads: it says what happened, and nothing about this machine. */
export function mcpFailure(code: McpFailureCode, message: string, more: FailureDetails = {}): TaskFailure {
  const { cause, data = {} } = more;
  return new TaskFailure(message, { code, data: { code, ...data }, ...(cause !== undefined && { cause }) });
}

interface FailureDetails {
  readonly cause?: unknown;
  readonly data?: JsonObject;
}

/** An MCP server that cannot be used: `mcpAgent` rejects with it. */
export class McpServerError extends Error {
  override readonly name = "McpServerError";
  readonly code: "mcp-unavailable" | "mcp-names-collide";

  constructor(code: McpServerError["code"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
