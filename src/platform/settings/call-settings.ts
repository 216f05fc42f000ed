import type { CallLimits } from "../../engine/agent/agent.ts";
import { callLimitProblems } from "../../engine/agent/call-limits.ts";
import { StartupError } from "../startup-error.ts";

/** Limits of calls between agents, and which other servers are trusted. */
export interface CallServerOptions extends Partial<CallLimits> {
  /**
   * URLs of servers whose ancestry is verified with their keys (`/.well-known/jwks.json`), such as `https://agents.example.org`. The ancestry of other
   * servers only counts. Default: none.
   */
  readonly trust?: readonly string[];
}

/** Throws a {@link StartupError} for invalid options. */
export function callSettingsFrom(options: CallServerOptions = {}): CallServerOptions {
  const { trust = [], ...limits } = options;
  const isList = Array.isArray(trust) && trust.every((url) => typeof url === "string" && URL.canParse(url));
  const problems = [
    ...callLimitProblems("calls", limits),
    ...(isList ? [] : ["`calls.trust` must be a list of URLs."]),
  ];
  if (problems.length > 0) throw new StartupError("usage", problems.join("\n"));
  return options;
}
