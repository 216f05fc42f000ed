import type { CallToolResult, InputRequiredResult, Server, ServerContext } from "@modelcontextprotocol/server";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { A2AError } from "../../protocol/error.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json.ts";
import { callTool, listTools } from "./call-tool.ts";
import { abilitiesOf } from "./client-abilities.ts";
import { type ClientAbilities, type McpSettings, TASKS_EXTENSION } from "./contract.ts";
import type { McpRequest } from "./face.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import type { McpSdk } from "./load-sdk.ts";
import { RpcFailure, rpcErrorOf, TASKS_REQUIRED } from "./mcp-error.ts";
import { mcpTaskId, readMcpTaskId, taskMembers } from "./mcp-task.ts";
import { createProgress } from "./progress.ts";
import type { ToolOutcome } from "./run-tool.ts";
import { cancelMcpTask, getMcpTask, type TaskCall, updateMcpTask } from "./task-methods.ts";

/** Seconds for which a question can be answered by repeating the call. */
const STATE_SECONDS = 30 * 24 * 3600;

/** A server of the official SDK that answers one HTTP request, or one connection over stdio, with the tools of a path. */
// oxlint-disable-next-line typescript/no-deprecated -- deprecated for common uses; this one adds methods and results that the other class does not have
export function createSdkServer(sdk: McpSdk, request: McpRequest): Server {
  const { settings } = request.face;
  const state = sdk.createRequestStateCodec<SealedState>({
    key: settings.key,
    ttlSeconds: STATE_SECONDS,
    bind: (context) => `${context.mcpReq.method}\0${request.principal.id}`,
  });
  // oxlint-disable-next-line typescript/no-deprecated -- as above
  const server = new sdk.Server(settings.info, {
    capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
    instructions: INSTRUCTIONS,
    requestState: { verify: state.verify },
  });
  const clientOf = ({ mcpReq }: ServerContext): ClientAbilities =>
    // oxlint-disable-next-line typescript/no-deprecated -- the only source for clients of 2025 over stdio
    abilitiesOf(objectOf(mcpReq.envelope)[sdk.CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities());
  const answer = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      throw protocolError(sdk, request, thrown);
    }
  };

  server.setRequestHandler("tools/list", (_request, context) =>
    answer(async () => ({ tools: [...(await listTools(request, clientOf(context)))] })),
  );
  server.setRequestHandler("tools/call", ({ params }, context) =>
    answer(async () => {
      const { mcpReq } = context;
      const client = clientOf(context);
      const resumed = mcpReq.requestState<SealedState>();
      const outcome = await callTool(request, params.name, {
        args: objectOf(params.arguments),
        meta: objectOf(mcpReq._meta),
        client,
        signal: mcpReq.signal,
        responses: objectOf(mcpReq.inputResponses),
        resumed: resumed === undefined ? undefined : readMcpTaskId(resumed.task),
        progress: createProgress(mcpReq._meta?.progressToken, (note) => mcpReq.notify(note)),
      });
      const result = await resultOf(outcome, { settings, seal: (sealed) => state.mint(sealed, context) });
      // Safe cast: the SDK checks the result, and its type has no tasks.
      return result as unknown as CallToolResult | InputRequiredResult;
    }),
  );

  const onTask = (method: string, work: (call: TaskCall) => Promise<JsonObject>): void =>
    server.setRequestHandler(method, { params: ANY_PARAMS }, (params, context) =>
      answer(async () => {
        const { mcpReq } = context;
        const client = clientOf(context);
        if (!client.tasks) throw new RpcFailure(TASKS_REQUIRED);
        // The SDK takes the responses out of the parameters.
        const given = mcpReq.inputResponses === undefined ? {} : { inputResponses: objectOf(mcpReq.inputResponses) };
        const call = {
          params: { ...objectOf(params), ...given },
          client,
          meta: objectOf(mcpReq._meta),
          signal: mcpReq.signal,
        };
        return { resultType: "complete", ...(await work(call)) };
      }),
    );
  onTask("tasks/get", (call) => getMcpTask(request, call));
  onTask("tasks/update", async (call) => {
    await updateMcpTask(request, call);
    return {};
  });
  onTask("tasks/cancel", async (call) => {
    await cancelMcpTask(request, call);
    return {};
  });
  return server;
}

/** Parameters of the tasks methods are read by those methods. */
const ANY_PARAMS: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "palaver", validate: (value) => ({ value }) },
};

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** What the client sends back with its answers. */
interface SealedState {
  /** The id of the task, as in {@link mcpTaskId}. */
  readonly task: string;
  /** The event that asked. */
  readonly seq: number;
}

interface Sealing {
  readonly settings: McpSettings;
  /** Signs the state. */
  readonly seal: (state: SealedState) => Promise<string>;
}

async function resultOf(outcome: ToolOutcome, { settings, seal }: Sealing): Promise<object> {
  if (outcome.kind === "result") return { resultType: "complete", ...outcome.result };
  const { agent, task } = outcome;
  if (outcome.kind === "task") return { resultType: "task", ...taskMembers(agent, task, settings) };
  const requestState = await seal({ task: mcpTaskId({ agent, id: task.id }), seq: task.seq });
  return { resultType: "input_required", inputRequests: outcome.requests, requestState };
}

function protocolError(sdk: McpSdk, request: McpRequest, thrown: unknown): Error {
  if (thrown instanceof A2AError) request.refusal = thrown;
  if (!(thrown instanceof RpcFailure) && !(thrown instanceof A2AError) && !request.exchange.signal.aborted)
    request.face.endpoint.environment.logger.error("A request of an MCP client failed", { error: thrown });
  const { code, message, data } = thrown instanceof RpcFailure ? thrown.error : rpcErrorOf(thrown);
  return new sdk.ProtocolError(code, message, data);
}
