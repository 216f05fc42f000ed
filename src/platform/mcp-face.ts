import { createHmac } from "node:crypto";
import { handleDiscoverAgent, handleInvokeRemoteAgent } from "../client/invoke/tool-handlers.ts";
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
  return urlToolsBy(fetch);
}

/** Calls agents at any address, for the user who started this program. Sends no credentials. */
export function openUrlTools(): UrlTools {
  return urlToolsBy(globalThis.fetch);
}

function urlToolsBy(fetch: typeof globalThis.fetch): UrlTools {
  return {
    discoverAgent: (args, signal) => handleDiscoverAgent(args, { fetch, signal }),
    invokeRemoteAgent: (args, signal) => handleInvokeRemoteAgent(args, { fetch, signal }),
  };
}
