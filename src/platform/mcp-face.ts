import { createHmac } from "node:crypto";
import type { OutgoingOptions } from "../outgoing/contract.ts";
import { createOutgoing } from "../outgoing/create-outgoing.ts";
import type { McpSettings, UrlTools } from "../transport/mcp/contract.ts";
import type { McpServerSettings } from "./settings/mcp-settings.ts";
import { packageVersion } from "./version.ts";

export interface McpFaceOptions {
  readonly settings: McpServerSettings;
  /** The server's secret, the same on every node. */
  readonly secret: Uint8Array;
  /** Milliseconds for which finished tasks are kept. Absent: not limited. */
  readonly maxAge: number | undefined;
  /** Tools that call agents by URL, if the settings turn them on. */
  readonly urlTools: () => UrlTools;
}

/** How agents are served over MCP, from the options of the server. */
export function mcpFaceSettings({ settings, secret, maxAge, urlTools }: McpFaceOptions): McpSettings {
  const { tools, tasks, taskAfter, pollInterval, callUrls } = settings;
  return {
    tools,
    tasks,
    taskAfterMs: taskAfter,
    pollIntervalMs: pollInterval,
    keptMs: maxAge,
    key: createHmac("sha256", secret).update("palaver mcp").digest(),
    info: { name: "palaver", version: packageVersion() },
    urlTools: callUrls ? urlTools() : undefined,
  };
}

/** The most bytes of an agent's answer. */
const MAX_BYTES = 10_000_000;

/** Calls agents at addresses that the operator allows. Sends no credentials. */
export function guardedUrlTools(outgoing: OutgoingOptions): UrlTools {
  const { fetch } = createOutgoing({ ...outgoing, maxBytes: MAX_BYTES });
  return urlToolsBy({ fetch });
}

/** Calls agents with this function; without one, at every address. Sends no credentials. Loads the client at the first call. */
export function urlToolsBy(guard: { readonly fetch?: typeof globalThis.fetch }): UrlTools {
  const load = () => import("../client/invoke/tool-handlers.ts");
  return {
    discoverAgent: async (args, signal) => (await load()).handleDiscoverAgent(args, { ...guard, signal }),
    invokeRemoteAgent: async (args, signal) => (await load()).handleInvokeRemoteAgent(args, { ...guard, signal }),
  };
}
