import { A2AError } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { authorizeReader } from "../../server/authorize.ts";
import { auditEntry } from "../audit.ts";
import { ANSWER_TOOL_DEFINITION, answerByTool } from "./answer-tool.ts";
import type { ClientAbilities, ToolDefinition } from "./contract.ts";
import { type McpRequest, serviceOf } from "./face.ts";
import { RpcFailure, TASKS_REQUIRED, unknownTool } from "./mcp-error.ts";
import { ANSWER_TOOL } from "./questions.ts";
import { errorOutcome, runTool, type ToolCall, type ToolOutcome } from "./run-tool.ts";
import { type AgentTool, toolsOf } from "./tools/tools.ts";
import { callUrlTool, URL_TOOL_DEFINITIONS, URL_TOOL_NAMES } from "./tools/url-tools.ts";

/** `tools/list`: the tools that this caller may see. */
export async function listTools(request: McpRequest, client: ClientAbilities): Promise<readonly ToolDefinition[]> {
  const { urlTools } = request.face.settings;
  const tools = await Promise.all(
    agentTools(request).map(async (tool) => ((await isVisible(request, tool)) ? [tool.definition] : [])),
  );
  return [
    ...tools.flat(),
    ...(client.forms ? [] : [ANSWER_TOOL_DEFINITION]),
    ...(urlTools === undefined ? [] : URL_TOOL_DEFINITIONS),
  ];
}

/** The tool with this name, if the caller may see it. */
export async function visibleTool(request: McpRequest, name: string): Promise<AgentTool | undefined> {
  const tool = agentTools(request).find((each) => each.name === name);
  return tool !== undefined && (await isVisible(request, tool)) ? tool : undefined;
}

/** A tool is listed for callers that are accepted by its agent and, if cards are private, may read its card. */
async function isVisible(request: McpRequest, { agent }: AgentTool): Promise<boolean> {
  const service = serviceOf(request, agent);
  if (service === undefined) return false;
  if (service.security?.hasPrivateCards !== true) return true;
  try {
    authorizeReader(service, await request.callerOf(agent));
    return true;
  } catch (error) {
    if (error instanceof A2AError && error.code !== "internal") return false;
    throw error;
  }
}

function agentTools(request: McpRequest): readonly AgentTool[] {
  const agents = request.face.agents.flatMap((id) => {
    const service = serviceOf(request, id);
    return service === undefined ? [] : [{ id, card: service.card }];
  });
  return toolsOf(agents, request.face.settings);
}

/** `tools/call`. Rejects with errors that are for the client program; a result tells the model of all others. */
export async function callTool(request: McpRequest, name: string, call: ToolCall): Promise<ToolOutcome> {
  try {
    if (URL_TOOL_NAMES.includes(name)) return { kind: "result", result: await urlTool(request, name, call) };
    if (name === ANSWER_TOOL) {
      const resumed = await answerByTool(request, call);
      const tool = agentTools(request).find(({ agent }) => agent === resumed.resumed?.agent);
      if (tool === undefined) throw unknownTool(name);
      return await runTool(request, { ...tool, tasks: "optional" }, resumed);
    }
    const tool = agentTools(request).find((each) => each.name === name);
    if (tool === undefined) throw unknownTool(name);
    if (tool.tasks === "required" && !call.client.tasks) throw new RpcFailure(TASKS_REQUIRED);
    if (call.resumed !== undefined && call.resumed.agent !== tool.agent) throw unknownTool(name);
    return await runTool(request, tool, call);
  } catch (thrown) {
    return errorOutcome(thrown);
  }
}

async function urlTool(request: McpRequest, name: string, { args, signal }: ToolCall): ReturnType<typeof callUrlTool> {
  const { settings, endpoint } = request.face;
  if (settings.urlTools === undefined) throw unknownTool(name);
  const { audit, remoteOf } = endpoint.environment;
  audit?.(
    auditEntry({
      principal: request.principal,
      agent: "*",
      operation: undefined,
      request: `tools/call ${name} ${originOf(args)}`.slice(0, 256),
      tenant: undefined,
      taskId: undefined,
      dialect: request.dialect,
      remote: remoteOf(request.exchange),
      outcome: "ok",
      trace: undefined,
    }),
  );
  return callUrlTool(settings.urlTools, { name, args }, signal);
}

function originOf({ url }: JsonObject): string {
  return (typeof url === "string" ? URL.parse(url)?.origin : undefined) ?? "";
}
