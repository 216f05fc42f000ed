import type { PushCaller, WebhookConfigService } from "../push/contract.ts";
import { type Call, scopeOf } from "./call.ts";
import { pushNotSupported } from "./refusals.ts";
import type { Service } from "./service.ts";

/** Throws `push-not-supported` if the agent has no push notifications. Call it before any task is looked up, so that the error does not reveal which tasks exist. */
export function requirePush({ push, card }: Service): WebhookConfigService {
  if (push === undefined || card.capabilities.pushNotifications !== true) throw pushNotSupported();
  return push;
}

export function pushCaller({ agent }: Service, call: Call, tenant: string): PushCaller {
  return { scope: scopeOf(call, agent.id, tenant), dialect: call.dialect, policy: call.policy.push };
}
