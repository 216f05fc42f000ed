import type { Agent } from "../engine/agent/agent.ts";
import type { Engine } from "../engine/api.ts";
import type { AgentCard, AgentInterface } from "../protocol/card.ts";
import type { WebhookConfigService } from "../push/contract.ts";
import type { CallPathRules } from "./accept-call-path.ts";
import { agentCard, type CardContext } from "./card.ts";
import type { Security } from "./security.ts";

export interface ServiceOptions {
  readonly agent: Agent;
  readonly engine: Engine;
  /** Absent: nobody is notified here. */
  readonly push?: WebhookConfigService | undefined;
  /** Where the agent is reached, preferred first. */
  readonly interfaces: readonly AgentInterface[];
  /** What there is not, so that nobody can be asked here: every call is told that it was not found. */
  readonly missing?: string | undefined;
  /** Absent: everybody may do everything, or an authenticator of the host's sees to it. */
  readonly security?: Security | undefined;
  /** Idempotency window in milliseconds: a repeated message gets the earlier task. Absent: no idempotency. */
  readonly idempotencyWindow?: number | undefined;
  /** False: a message that carries only a `contextId` always begins a new task. Default: it may continue the one that waits for input. */
  readonly answerByContext?: boolean | undefined;
  /** Which messages are refused for the agents they have passed. Absent: none. */
  readonly callPaths?: CallPathRules | undefined;
  /** Bytes of tasks on one page of a list. Default 4 MB. */
  readonly maxPageBytes?: number | undefined;
}

/** One hosted agent with what its operations need. */
export interface Service extends ServiceOptions {
  /** What everybody sees. */
  readonly card: AgentCard;
}

export function createService(options: ServiceOptions): Service {
  return { ...options, card: agentCard(options.agent, options.interfaces, cardContext(options)) };
}

/** What cards say of how the agent is served. */
export function cardContext({
  push,
  idempotencyWindow,
}: Pick<ServiceOptions, "push" | "idempotencyWindow">): CardContext {
  return { push: push !== undefined, idempotencyWindow };
}
