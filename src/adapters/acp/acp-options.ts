import type { AgentDefinition, TaskContext } from "../../engine/agent/agent.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { ProcessOptions } from "../process/process-options.ts";

/** What an ACP agent wants to do, and what it offers as answers. */
export interface PermissionRequest {
  /** For people: what the tool call does. */
  readonly title: string;
  /** Such as `edit`, `execute` or `fetch`. */
  readonly kind: string | undefined;
  /** The input of the tool, as the agent states it. */
  readonly input: JsonValue | undefined;
  readonly options: readonly PermissionChoice[];
}

/** One of the answers that a program accepts to its request for permission. */
export interface PermissionChoice {
  readonly id: string;
  readonly name: string;
  /** Such as `allow_once`, `allow_always`, `reject_once` or `reject_always`. */
  readonly kind: string;
}

/** `allow` and `deny` choose the first option of this kind, and prefer one that is valid once to one that is valid always. An object names the option by its id. */
export type PermissionDecision = "allow" | "deny" | { readonly option: string };

/** Decides about permissions. Called again if the agent asks again after a restart. */
export type PermissionPolicy = (
  request: PermissionRequest,
  task: TaskContext,
) => PermissionDecision | Promise<PermissionDecision>;

/** How an ACP agent becomes an agent. */
export interface AcpBehaviour {
  /**
   * Who decides when the ACP agent asks for a permission. `operator`: the task waits for an operator, who finds the code for the answer in the server's log.
   * `caller`: the caller of the task decides, who may be a stranger. `allow` and `deny`: always. Or a function. Default `operator`.
   */
  readonly permissions?: "operator" | "caller" | "allow" | "deny" | PermissionPolicy;
  /** What the ACP agent may do with text files of `cwd` through this process: nothing, read, or read and write. Default `write`. */
  readonly files?: "none" | "read" | "write";
  /** Whether callers see the thoughts of the ACP agent: they stream into the artifact `reasoning`. Default false. */
  readonly showReasoning?: boolean;
  /** The prompt that the ACP agent gets after a restart, if it could load its session. */
  readonly continueWith?: string;
  /** Milliseconds for the start of the program and of its session. Default 60000. */
  readonly startTimeout?: number;
}

/** An agent whose work is done by a program that speaks the Agent Client Protocol. */
export interface AcpAgentOptions
  extends Omit<AgentDefinition, "run" | "reply" | "route" | "description" | "version">,
    Omit<ProcessOptions, "protocol">,
    AcpBehaviour {
  /** Default: the name. */
  readonly description?: string;
  /** Default `1`. */
  readonly version?: string;
}

export type AcpSettings = Required<AcpBehaviour>;

const DEFAULTS: AcpSettings = {
  permissions: "operator",
  files: "write",
  showReasoning: false,
  continueWith: "You were interrupted. Continue where you stopped.",
  startTimeout: 60_000,
};

const DECIDERS: readonly unknown[] = ["operator", "caller", "allow", "deny"];

/** Throws a `TypeError` for an invalid value. */
export function acpSettings(options: AcpBehaviour): AcpSettings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings: AcpSettings = { ...DEFAULTS, ...(given as AcpBehaviour) };
  const { permissions, files, startTimeout } = settings;
  if (typeof permissions !== "function" && !DECIDERS.includes(permissions))
    throw new TypeError(`acpAgent(): \`permissions\` must be one of ${DECIDERS.join(", ")}, or a function.`);
  if (!["none", "read", "write"].includes(files))
    throw new TypeError("acpAgent(): `files` must be none, read or write.");
  if (!Number.isSafeInteger(startTimeout) || startTimeout < 1)
    throw new TypeError("acpAgent(): `startTimeout` must be a whole number of at least 1.");
  return settings;
}
