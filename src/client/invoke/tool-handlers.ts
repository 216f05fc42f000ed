import type { JsonObject } from "../../protocol/json.ts";
import { type FetchedAgentCard, fetchAgentCard } from "./fetch-agent-card.ts";
import { type InvokeOptions, invokeRemoteAgent } from "./invoke-remote-agent.ts";

/** The result of a tool, as MCP defines it. */
export interface ToolHandlerResult {
  /** For a language model. */
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  /** For programs. */
  readonly structuredContent?: JsonObject;
  /** The call failed, and `content` says why. */
  readonly isError?: true;
}

/** The arguments of `handleDiscoverAgent`. */
export interface DiscoverAgentArguments {
  /** URL of the agent. */
  readonly url: string;
}

/** The arguments of `handleInvokeRemoteAgent`. */
export interface InvokeRemoteAgentArguments {
  /** URL of the agent. */
  readonly url: string;
  readonly message: string;
  /** Id of the skill to use. Default: the agent chooses. */
  readonly skill?: string | undefined;
  /** Milliseconds for the whole call, at most an hour. Default 300 000. */
  readonly timeoutMs?: number | undefined;
}

/** The longest wait for an answer, in milliseconds. */
const MAX_TIMEOUT = 3_600_000;

/**
 * The tool `discover_agent` of MCP: the card of an agent of any version. The arguments may come from a model, so they are checked. Never rejects. `options`:
 * set `fetch` to guard which addresses may be called; no credentials are sent.
 */
export async function handleDiscoverAgent(
  args: Partial<Readonly<Record<keyof DiscoverAgentArguments, unknown>>>,
  options: Pick<InvokeOptions, "fetch" | "signal" | "clock" | "timeout"> = {},
): Promise<ToolHandlerResult> {
  const { url } = args;
  if (!isWebUrl(url)) return wrongArgument("url", "must be an http or https URL");
  try {
    const card = await fetchAgentCard(url, options);
    return { content: [{ type: "text", text: JSON.stringify(card) }], structuredContent: jsonOf(card) };
  } catch (error) {
    return failed(`No agent was found at ${url}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * The tool `invoke_remote_agent` of MCP: sends a message to an agent of any version and returns its answer. The arguments may come from a model, so they are
 * checked. Never rejects. `options`: set `fetch` to guard which addresses may be called.
 */
export async function handleInvokeRemoteAgent(
  args: Partial<Readonly<Record<keyof InvokeRemoteAgentArguments, unknown>>>,
  options: InvokeOptions = {},
): Promise<ToolHandlerResult> {
  const { url, message, skill, timeoutMs } = args;
  if (!isWebUrl(url)) return wrongArgument("url", "must be an http or https URL");
  if (typeof message !== "string" || message === "") return wrongArgument("message", "must be a text");
  if (skill !== undefined && typeof skill !== "string") return wrongArgument("skill", "must be a string");
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT))
    return wrongArgument("timeoutMs", `must be a number from 1 to ${MAX_TIMEOUT}`);
  const { success, taskId, responseText, error } = await invokeRemoteAgent(url, message, {
    ...options,
    ...(skill !== undefined && { skill }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  const named = taskId === undefined ? {} : { taskId };
  if (!success) return { ...failed(error ?? "The call failed."), structuredContent: { success, ...named } };
  const text = responseText ?? "";
  return { content: [{ type: "text", text }], structuredContent: { success, ...named, responseText: text } };
}

function isWebUrl(url: unknown): url is string {
  return typeof url === "string" && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}

function wrongArgument(name: string, problem: string): ToolHandlerResult {
  return failed(`arguments.${name}: ${problem}`);
}

function failed(text: string): ToolHandlerResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Cards are parsed JSON. */
function jsonOf(card: FetchedAgentCard): JsonObject {
  return card as unknown as JsonObject;
}
