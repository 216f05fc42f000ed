import type { PushCaller, WebhookConfigService } from "../push/contract.ts";
import { type Call, scopeOf } from "./call.ts";
import { pushNotSupported } from "./refusals.ts";
import type { Service } from "./service.ts";

/** Refuses before any task is looked up: the answer must not tell which exist. */
export function requirePush({ push, card }: Service): WebhookConfigService {
  if (push === undefined || card.capabilities.pushNotifications !== true) throw pushNotSupported();
  return push;
}

export function pushCaller({ agent }: Service, call: Call, tenant: string): PushCaller {
  return { scope: scopeOf(call, agent.id, tenant), dialect: call.dialect, policy: call.policy.push };
}
