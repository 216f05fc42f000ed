import { isJsonObject, type JsonObject } from "../../protocol/json.ts";
import type { CallTimer } from "./call-timer.ts";
import { MessageTooLarge } from "./connections/limited-fetch.ts";
import { CONNECTION_LOST, MESSAGE_TOO_LARGE } from "./connections/lost-reply.ts";
import type { McpConnection } from "./connections/mcp-connection.ts";
import type { InputRequest } from "./input-requests.ts";
import type { McpSettings } from "./mcp-agent-options.ts";
import type { McpFailureCode } from "./mcp-failure.ts";

/** A failure as it is stored with its step. */
export interface StoredFailure {
  readonly code: McpFailureCode;
  readonly message: string;
  readonly data?: JsonObject;
}

const MAX_MESSAGE = 2000;
/** The JSON-RPC error code of a server that asks a question by URL before it runs the tool. */
const URL_ELICITATION_REQUIRED = -32042;

interface FailedCall {
  readonly timer: CallTimer;
  readonly connection: McpConnection;
  readonly settings: McpSettings;
}

/** The failure that the caller sees for an error of the MCP client. `undefined`: the error does not come from the server. */
export function failureOf(error: unknown, { timer, connection, settings }: FailedCall): StoredFailure | undefined {
  if (timer.signal.aborted)
    return { code: "mcp-timeout", message: `The tool did not answer within ${settings.callTimeout} ms.` };
  const rpcCode = rpcCodeOf(error);
  const isTooLarge = error instanceof MessageTooLarge || connection.failure() instanceof MessageTooLarge;
  if (isTooLarge || rpcCode === MESSAGE_TOO_LARGE)
    return { code: "mcp-message-too-large", message: `The tool sent more than ${settings.maxMessage} bytes.` };
  if (rpcCode === CONNECTION_LOST) return { code: "mcp-connection-lost", message: LOST };
  if (rpcCode !== undefined && error instanceof Error)
    return { code: "mcp-call-refused", message: wordsOf(error) || "The server refused the call.", data: { rpcCode } };
  if (isUnreachable(error))
    return { code: "mcp-unavailable", message: "The tools of this agent are not available now." };
  if (connection.failure() !== undefined || isConnectionError(error))
    return { code: "mcp-connection-lost", message: LOST };
  return isSdkError(error)
    ? { code: "mcp-result-invalid", message: "The server's reply is not valid MCP." }
    : undefined;
}

const LOST = "The connection to the server of this tool was lost. It is not known whether the call had its effect.";

/** The connection gets no further calls after this failure. */
export function isOfConnection({ code }: StoredFailure): boolean {
  return ["mcp-timeout", "mcp-connection-lost", "mcp-message-too-large", "mcp-unavailable"].includes(code);
}

/** The server does not know the session: it was started again, or the session was idle for too long. */
export function isSessionUnknown(error: unknown): boolean {
  return error instanceof Error && error.name === "SdkHttpError" && "status" in error && error.status === 404;
}

/** Errors of a connection that could not be opened, so that nothing was sent. */
const NOT_OPENED: readonly unknown[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];

function isUnreachable(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && NOT_OPENED.includes(cause.code);
}

/** The questions of an error that asks for them; the call is then made again. */
export function urlQuestionsIn(error: unknown): Readonly<Record<string, InputRequest>> | undefined {
  if (rpcCodeOf(error) !== URL_ELICITATION_REQUIRED) return undefined;
  const data: unknown = error instanceof Error && "data" in error ? error.data : undefined;
  const listed: unknown = isJsonObject(data) ? data["elicitations"] : undefined;
  if (!Array.isArray(listed) || listed.length === 0) return undefined;
  const requests = listed.map((params: unknown, index) => [String(index), { method: "elicitation/create", params }]);
  return Object.fromEntries(requests) as Record<string, InputRequest>;
}

/** The code of a JSON-RPC error. Errors of the client itself have names as codes. */
function rpcCodeOf(error: unknown): number | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "number" && !(error instanceof DOMException)
    ? error.code
    : undefined;
}

function isSdkError(error: unknown): boolean {
  return (
    error instanceof SyntaxError ||
    (error instanceof Error &&
      (error.name === "SdkError" || error.name === "ZodError" || error.name === "SdkHttpError"))
  );
}

/** The network failed, or the transport was closed. */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = "code" in error ? error.code : undefined;
  return error instanceof TypeError || error.name === "SdkHttpError" || /CLOSED|CONNECT|SEND/i.test(String(code));
}

function wordsOf({ message }: Error): string {
  return message.replace(/^MCP error -?\d+: /, "").slice(0, MAX_MESSAGE);
}
