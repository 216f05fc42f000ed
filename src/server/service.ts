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
  /** Absent: this server sends no push notifications. */
  readonly push?: WebhookConfigService | undefined;
  /** The URLs and bindings of the agent, the preferred first. */
  readonly interfaces: readonly AgentInterface[];
  /** The name of a resource that does not exist: every call is answered with "… not found". Absent: the agent is served. */
  readonly missing?: string | undefined;
  /** Absent: every caller may do everything, or a custom authenticator decides. */
  readonly security?: Security | undefined;
  /** The idempotency window: milliseconds within which a repeated message counts once. Absent: every message counts. */
  readonly idempotencyWindow?: number | undefined;
  /** False: a message with a `contextId` and no `taskId` always starts a new task. Default: it may answer the one task of that context that waits for input. */
  readonly answerByContext?: boolean | undefined;
  /** Refuses messages that loop between agents. Absent: call paths are not checked. */
  readonly callPaths?: CallPathRules | undefined;
  /** Bytes of tasks on one page of a list. Default 4 MB. */
  readonly maxPageBytes?: number | undefined;
}

/** One served agent, and everything its operations need. */
export interface Service extends ServiceOptions {
  /** The public card. Another object after the agent's skills have changed. */
  readonly card: AgentCard;
}

export function createService(options: ServiceOptions): Service {
  const { agent, interfaces } = options;
  const make = (): AgentCard => agentCard(agent, interfaces, cardContext(options));
  const { cardRevision } = agent;
  if (cardRevision === undefined) return { ...options, card: make() };
  let [revision, card] = [cardRevision(), make()];
  return {
    ...options,
    get card() {
      const current = cardRevision();
      if (current !== revision) [revision, card] = [current, make()];
      return card;
    },
  };
}

/** The features of this server that cards announce. */
export function cardContext({
  push,
  idempotencyWindow,
  callPaths,
}: Pick<ServiceOptions, "push" | "idempotencyWindow" | "callPaths">): CardContext {
  return { push: push !== undefined, idempotencyWindow, calls: callPaths?.ancestry !== undefined };
}
