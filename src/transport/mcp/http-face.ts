import { A2AError } from "../../protocol/error.ts";
import { isJsonObject } from "../../protocol/json.ts";
import { parseJson, requireJson } from "../body/json-body.ts";
import { readRequestBody } from "../body/request-body.ts";
import type { CorsPolicy } from "../cors.ts";
import type { Exchange, Headers, Reply } from "../exchange.ts";
import type { AuthenticationGroups } from "../grpc/authentication-groups.ts";
import { isFromOtherOrigin } from "../operator/local-request.ts";
import type { Handler } from "../router.ts";
import { type AuthenticatedCaller, authenticateCaller } from "./authenticate.ts";
import { visibleTool } from "./call-tool.ts";
import type { McpFace, McpRequest } from "./face.ts";
import { isLegacyBody } from "./legacy/is-legacy-body.ts";
import { type InFlight, serveLegacy } from "./legacy/serve-legacy.ts";
import { listenToTasks, readListenRequest } from "./listen.ts";
import { loadMcpSdk, type McpSdk } from "./load-sdk.ts";
import { HEADER_MISMATCH, type RpcError, RpcFailure } from "./mcp-error.ts";
import { errorReply, type RpcId, replyOf, rpcErrorReply } from "./reply.ts";
import { createSdkServer } from "./sdk-server.ts";
import { headerProblem, paramHeadersOf } from "./tools/param-headers.ts";

export interface HttpFaceOptions {
  readonly cors: Pick<CorsPolicy, "allows">;
  readonly groups: AuthenticationGroups;
}

/** Answers the `POST` requests of an MCP path: Streamable HTTP of the revisions 2026-07-28 and 2025. */
export function createMcpHandler(face: McpFace, options: HttpFaceOptions): Handler {
  const modern = modernHandler(face);
  const inFlight: InFlight = new Map();
  return async (exchange) => {
    let headers: Headers = {};
    let id: RpcId = null;
    try {
      requireKnownOrigin(exchange, options.cors);
      const { environment } = face.endpoint;
      const caller = await authenticateCaller(face, exchange, options.groups);
      headers = caller.limitHeaders;
      requireJson(exchange);
      const body = parseJson(await readRequestBody(environment, exchange, environment.maxBodyBytes));
      id = idOf(body);
      const request: McpRequest = { face, exchange, dialect: "mcp/http", ...caller, refusal: undefined };
      if (isLegacyBody(body, exchange)) return await serveLegacy(request, body, { headers, inFlight });
      return await modern(request, body, caller);
    } catch (thrown) {
      return refused(face, thrown, { id, headers });
    }
  };
}

function refused(
  { endpoint }: McpFace,
  thrown: unknown,
  { id, headers }: { readonly id: RpcId; readonly headers: Headers },
): Reply {
  if (thrown instanceof RpcFailure) return rpcErrorReply(400, { id, error: thrown.error, headers });
  if (!(thrown instanceof A2AError))
    endpoint.environment.logger.error("A request of an MCP client failed", { error: thrown });
  return errorReply(thrown, id, headers);
}

type ModernHandler = (request: McpRequest, body: unknown, caller: AuthenticatedCaller) => Promise<Reply>;

/** Serves the revision 2026-07-28 with the official SDK, which is loaded at the first request. */
function modernHandler(face: McpFace): ModernHandler {
  const { endpoint } = face;
  const requests = new WeakMap<Request, McpRequest>();
  const create = async (): Promise<{ fetch: ReturnType<McpSdk["createMcpHandler"]>["fetch"] }> => {
    const sdk = await loadMcpSdk("http");
    return sdk.createMcpHandler(
      ({ requestInfo }) => {
        const request = requestInfo === undefined ? undefined : requests.get(requestInfo);
        if (request === undefined) throw new Error("The request is not known.");
        return createSdkServer(sdk, request);
      },
      { legacy: "reject" },
    );
  };
  let loaded: ReturnType<typeof create> | undefined;
  return async (request, body, { limitHeaders }) => {
    const listening = readListenRequest(request, body);
    if (listening !== undefined) return listenToTasks(request, listening, limitHeaders);
    const problem = await headerMismatch(request, body);
    if (problem !== undefined) throw new RpcFailure(problem);
    loaded ??= create();
    const handler = await loaded.catch((error: unknown) => {
      // It may be installed meanwhile.
      loaded = undefined;
      throw error;
    });
    const { exchange } = request;
    const webRequest = new Request("http://localhost/mcp", {
      method: "POST",
      headers: copiedHeaders(exchange),
      signal: exchange.signal,
    });
    requests.set(webRequest, request);
    const response = await handler.fetch(webRequest, { parsedBody: body });
    return replyOf(endpoint, response, { refusal: request.refusal, headers: limitHeaders });
  };
}

/** The headers that the SDK reads. */
const SDK_HEADERS = ["content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name"];

function copiedHeaders(exchange: Exchange): Headers {
  return Object.fromEntries(
    SDK_HEADERS.flatMap((name) => {
      const value = exchange.header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** A tool may ask for arguments in headers as well. Proxies trust these headers, so they must say what the body says. The SDK checks the other headers. */
async function headerMismatch(request: McpRequest, body: unknown): Promise<RpcError | undefined> {
  if (!isJsonObject(body) || body["method"] !== "tools/call" || !isJsonObject(body["params"])) return undefined;
  const { name, arguments: args } = body["params"];
  const tool = typeof name === "string" ? await visibleTool(request, name) : undefined;
  if (tool === undefined || !isJsonObject(args)) return undefined;
  const headers = paramHeadersOf(tool.definition.inputSchema) ?? [];
  const problem = headerProblem(headers, { args, header: (each) => request.exchange.header(each) });
  return problem === undefined
    ? undefined
    : { code: HEADER_MISMATCH, message: `The request headers and body disagree: ${problem}` };
}

function idOf(body: unknown): RpcId {
  const id = isJsonObject(body) ? body["id"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** Web pages of other origins may call only if CORS allows it (DNS rebinding). */
function requireKnownOrigin(exchange: Exchange, cors: Pick<CorsPolicy, "allows">): void {
  const origin = exchange.header("origin");
  if (origin === undefined || cors.allows(origin) || !isFromOtherOrigin(exchange)) return;
  throw new A2AError("permission-denied", "This origin may not call the server; see --cors-origin");
}
