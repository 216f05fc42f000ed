import type { Agent } from "../../engine/agent/agent.ts";
import type { Engine } from "../../engine/api.ts";
import { CallError } from "../../engine/call/call-error.ts";
import type { Callees } from "../../engine/call/callee.ts";
import type { Logger } from "../../internal/logger.ts";
import { createCallees } from "../../platform/calls/callees.ts";

export interface TestCalleesOptions {
  readonly agents: readonly Agent[];
  /** A function, because the engine needs the callees first. */
  readonly engine: () => Engine;
  readonly serverId: string;
  readonly logger: Logger;
}

/** The agents of a test call each other as on a server. Agents elsewhere are not called: a test has no network. */
export function testCallees(options: TestCalleesOptions): Callees {
  return createCallees({
    ...options,
    authorize: () => undefined,
    remotes: { client: (url) => Promise.reject(notCalled(url)), close: () => undefined },
    newContextId: (entry) => entry,
    sign: () => Promise.reject(notCalled("another server")),
  });
}

function notCalled(url: string): CallError {
  return new CallError(
    `A test calls only its own agents, not ${url}. Give testAgent() an agent that stands for it, and call that by its id.`,
    { code: "call-unavailable" },
  );
}
