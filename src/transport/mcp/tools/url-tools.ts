import type { JsonObject } from "../../../protocol/json.ts";
import type { ToolDefinition, ToolResult, UrlTools } from "../contract.ts";

const DISCOVER = "discover_agent";
const INVOKE = "invoke_remote_agent";
/** The names of the tools that call agents by their URLs. */
export const URL_TOOL_NAMES: readonly string[] = [DISCOVER, INVOKE];

const URL_SCHEMA: JsonObject = { type: "string", description: "URL of the agent." };

/** The tools as `tools/list` shows them. */
export const URL_TOOL_DEFINITIONS: readonly ToolDefinition[] = [
  {
    name: DISCOVER,
    title: "Discover an agent",
    description: "Reads the card of an A2A agent of any version: what the agent can do, and how to call it.",
    inputSchema: { type: "object", properties: { url: URL_SCHEMA }, required: ["url"], additionalProperties: false },
  },
  {
    name: INVOKE,
    title: "Call an agent",
    description: "Sends a message to an A2A agent of any version and returns its answer.",
    inputSchema: {
      type: "object",
      properties: {
        url: URL_SCHEMA,
        message: { type: "string", description: "What to tell the agent." },
        skill: { type: "string", description: "Id of the skill to use. Default: the agent chooses." },
        timeoutMs: { type: "integer", description: "Milliseconds to wait for the answer. Default 300000." },
      },
      required: ["url", "message"],
      additionalProperties: false,
    },
  },
];

/** Calls one of these tools. */
export function callUrlTool(
  tools: UrlTools,
  { name, args }: { readonly name: string; readonly args: JsonObject },
  signal: AbortSignal,
): Promise<ToolResult> {
  return name === DISCOVER ? tools.discoverAgent(args, signal) : tools.invokeRemoteAgent(args, signal);
}
