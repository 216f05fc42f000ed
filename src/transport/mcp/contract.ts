import type { JsonObject } from "../../protocol/json.ts";

/** The extension by which a call of a tool becomes a task. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/**
 * Whether a call of a tool may be answered with a task. `optional`: if the call takes longer than `taskAfterMs` and the client supports tasks.
 * `required`: always, and clients without tasks are refused (−32021). `never`: the client waits.
 */
export const TASK_SUPPORTS = ["optional", "required", "never"] as const;
export type TaskSupport = (typeof TASK_SUPPORTS)[number];

/** How agents are served over MCP. */
export interface McpSettings {
  /** `skills`: an agent with several skills is one tool per skill. `agents`: every agent is one tool. */
  readonly tools: "skills" | "agents";
  /** By the name of the tool or the id of the agent. Default `optional`. */
  readonly tasks: Readonly<Record<string, TaskSupport>>;
  /** Milliseconds after which a call is answered with a task, if the client supports tasks. */
  readonly taskAfterMs: number;
  /** Milliseconds between polls of a task, as a suggestion to clients. */
  readonly pollIntervalMs: number;
  /** Milliseconds for which a task is kept after it has ended. Absent: not limited. */
  readonly keptMs?: number | undefined;
  /** Signs what clients send back. At least 32 bytes; the same on every node. */
  readonly key: Uint8Array;
  /** The name and the version of this server. */
  readonly info: { readonly name: string; readonly version: string };
  /** Tools that call an agent by its URL. Absent: they are not offered. */
  readonly urlTools?: UrlTools | undefined;
}

/** Calls agents whose URLs a client names. The implementation checks the arguments, and guards which addresses may be called. Never rejects. */
export interface UrlTools {
  /** The card of an agent. */
  discoverAgent(args: JsonObject, signal: AbortSignal): Promise<ToolResult>;
  /** Sends a message to an agent and waits for its answer. */
  invokeRemoteAgent(args: JsonObject, signal: AbortSignal): Promise<ToolResult>;
}

/** A content block of MCP, as far as this server writes it. */
export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | { readonly type: "resource_link"; readonly uri: string; readonly name: string; readonly mimeType?: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType?: string } & (
        | { readonly text: string }
        | { readonly blob: string }
      );
    };

/** The result of a tool. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
  readonly _meta?: JsonObject;
}

/** What the client of a request can do. */
export interface ClientAbilities {
  /** Shows forms (`elicitation/create`). */
  readonly forms: boolean;
  /** Opens URLs for its user. */
  readonly urls: boolean;
  /** Supports the tasks extension. */
  readonly tasks: boolean;
}

/** A request to the client, as in `inputRequests` of MCP. */
export interface InputRequestOfServer {
  readonly method: "elicitation/create";
  readonly params: JsonObject;
}

/** A tool as `tools/list` shows it. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: "object" };
}
