import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { TaskContext } from "../../engine/agent/agent.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { requireMcpClient } from "../mcp/mcp-client-package.ts";
import type { McpServerAddress } from "../mcp/mcp-server-address.ts";
import { McpConnection } from "./mcp-connection.ts";
import { type McpResult, mcpOutput } from "./mcp-output.ts";
import type { Tool, ToolProvider, Tools } from "./tool.ts";
import { filterTools, type ToolFilter } from "./tool-provider.ts";

/** What a server says about one of its tools, as far as it is used here. */
export interface McpTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: object;
  readonly annotations?:
    | { readonly readOnlyHint?: boolean | undefined; readonly idempotentHint?: boolean | undefined }
    | undefined;
}

/** Options of `mcpTools`: the server, which of its tools the model gets, and timeouts. */
export type McpToolsOptions = McpServerAddress &
  ToolFilter & {
    /** Whether a tool may run again if the process died while it ran. Default: if the server says that it only reads, or that a repetition has no further effect. */
    readonly repeatable?: (tool: McpTool) => boolean;
    /** Milliseconds for opening the connection and for reading the list of tools. Default 10000. */
    readonly connectTimeout?: number;
  };

const CONNECT_TIMEOUT = 10_000;
const CALL_TIMEOUT = 60_000;
const MAX_TOOLS = 128;
const MAX_DESCRIPTION = 4000;

/**
 * The tools of an MCP server, for `tools` of a `modelAgent`. The connection is opened with the first task and shared by all; `close` ends it. Names are as the
 * model sees them: letters, digits, `_` and `-`, at most 64. If the server cannot be reached, the task fails with `tools-unavailable`. Throws an `Error` if the
 * package `@modelcontextprotocol/client` is not installed.
 */
export function mcpTools(options: McpToolsOptions): ToolProvider & { close(): Promise<void> } {
  requireMcpClient("Tools of MCP servers");
  const { connectTimeout = CONNECT_TIMEOUT, repeatable = isHarmless } = options;
  const connection = new McpConnection(options, connectTimeout);
  const list = async (task: TaskContext): Promise<Tools> => {
    const tools = await listed(connection, connectTimeout, task);
    return Object.fromEntries(
      tools.map((tool) => [modelName(tool.name), localTool(connection, tool, { ...options, repeatable })]),
    );
  };
  return Object.assign(filterTools(list, options), { close: () => connection.close() });
}

async function listed(connection: McpConnection, timeout: number, task: TaskContext): Promise<readonly McpTool[]> {
  try {
    const client = await connection.client();
    const { tools } = await client.listTools({}, { timeout, signal: task.signal });
    if (tools.length > MAX_TOOLS)
      task.log.warn("An MCP server has too many tools; the others are left out", {
        tools: tools.length,
        used: MAX_TOOLS,
      });
    return tools.slice(0, MAX_TOOLS);
  } catch (cause) {
    task.signal.throwIfAborted();
    task.log.error("The tools of an MCP server could not be listed", { error: cause });
    throw new TaskFailure("The tools of this agent are not available now.", { code: "tools-unavailable", cause });
  }
}

function localTool(
  connection: McpConnection,
  tool: McpTool,
  {
    repeatable,
    timeout = CALL_TIMEOUT,
  }: { readonly repeatable: (tool: McpTool) => boolean; readonly timeout?: number },
): Tool {
  return {
    description: (tool.description ?? "").slice(0, MAX_DESCRIPTION),
    input: ARGUMENTS,
    jsonSchema: { ...tool.inputSchema },
    repeatable: repeatable(tool),
    timeout,
    async execute(input, { signal }): Promise<JsonValue> {
      const client = await connection.client();
      // Safe cast: `ARGUMENTS` accepts only objects.
      const call = { name: tool.name, arguments: input as JsonObject };
      // Safe cast: as the protocol defines results.
      return mcpOutput((await client.callTool(call, { signal, timeout })) as McpResult);
    },
  };
}

function isHarmless({ annotations }: McpTool): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}

/** Model APIs accept only these characters. */
function modelName(name: string): string {
  return name.replaceAll(/[^\w-]/g, "_").slice(0, 64);
}

/** The server validates the arguments itself; here they must be an object. */
const ARGUMENTS: StandardSchemaV1<unknown, JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "palaver",
    validate(value) {
      const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
      // Safe cast: tool inputs are parsed JSON.
      return isObject ? { value: value as JsonObject } : { issues: [{ message: "The input must be a JSON object." }] };
    },
  },
};
