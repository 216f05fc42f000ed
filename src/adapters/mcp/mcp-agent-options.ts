import type { AgentDefinition } from "../../engine/agent/agent.ts";
import type { ProcessOptions } from "../process/process-options.ts";
import type { McpUrlAddress } from "./mcp-server-address.ts";

/** The properties of an MCP tool that options can depend on. */
export interface McpToolInfo {
  readonly name: string;
  readonly description?: string | undefined;
  readonly annotations?:
    | {
        readonly readOnlyHint?: boolean | undefined;
        readonly destructiveHint?: boolean | undefined;
        readonly idempotentHint?: boolean | undefined;
      }
    | undefined;
}

/** How the tools of an MCP server become an agent. */
export interface McpAgentBehaviour {
  /** Only these tools. Default: all. */
  readonly only?: readonly string[];
  /** Not these tools. */
  readonly except?: readonly string[];
  /** Each prompt is a skill as well, `prompt.NAME`. Default true. */
  readonly prompts?: boolean;
  /** The server's resources can be read, with the skill `read-resource`. Default true. */
  readonly resources?: boolean;
  /** Whether a tool may be called again if the process died while it ran. Default: true if the server marks the tool as read-only or idempotent. */
  readonly repeatable?: (tool: McpToolInfo) => boolean;
  /** Milliseconds for opening a connection and for reading a list. Default 10000. */
  readonly connectTimeout?: number;
  /** Milliseconds without a result, progress or a question after which a call fails with `mcp-timeout`. Default 300000. */
  readonly callTimeout?: number;
  /** Bytes of one message of the server. Above it the connection ends, and its calls fail with `mcp-message-too-large`. Default 16 MB. */
  readonly maxMessage?: number;
  /** Connections at a time to a server of a revision before 2026-07-28, where each call needs its own. With 1, calls are made one after the other. Default 16. */
  readonly connections?: number;
}

/** The server at an address. */
export interface McpUrlOptions extends McpUrlAddress {
  /** Makes the requests. Pass `createOutgoing().fetch` (`palaver/outgoing`) if the URL does not come from you. Default: the global `fetch`. */
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
}

/** The server as a program. */
export interface McpProgramOptions extends Omit<ProcessOptions, "protocol" | "maxOutput" | "maxLine" | "maxFile"> {
  readonly url?: never;
}

/** The members of the agent that do not come from the server. */
type Identity = Omit<AgentDefinition, "run" | "reply" | "route" | "skills" | "name" | "description" | "version">;

/** An agent whose skills are the tools of an MCP server. */
export type McpAgentOptions = (McpUrlOptions | McpProgramOptions) &
  McpAgentBehaviour &
  Identity & {
    /** Default: as the server calls itself. */
    readonly name?: string;
    /** Default: the server's instructions, or a sentence with its name. */
    readonly description?: string;
    /** Default: the version of the server. */
    readonly version?: string;
  };

/** {@link McpAgentBehaviour} with its defaults. */
export type McpSettings = Required<Omit<McpAgentBehaviour, "only" | "except">> &
  Pick<McpAgentBehaviour, "only" | "except">;

const DEFAULTS = {
  prompts: true,
  resources: true,
  repeatable: isHarmless,
  connectTimeout: 10_000,
  callTimeout: 300_000,
  maxMessage: 16 * 2 ** 20,
  connections: 16,
};

/** Throws a `TypeError` for an invalid value. */
export function mcpSettings(options: McpAgentBehaviour): McpSettings {
  const settings = { ...DEFAULTS, ...withoutUndefined(options) };
  for (const name of ["connectTimeout", "callTimeout", "maxMessage", "connections"] as const) {
    if (!Number.isSafeInteger(settings[name]) || settings[name] < 1)
      throw new TypeError(`mcpAgent(): \`${name}\` must be a whole number of at least 1.`);
  }
  return settings;
}

function isHarmless({ annotations }: McpToolInfo): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}

function withoutUndefined(options: McpAgentBehaviour): McpAgentBehaviour {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
