import type { SendRequest } from "../protocol/operation.ts";
import type { PushCaller, WebhookConfigService } from "../push/contract.ts";
import { type Call, scopeOf } from "./call.ts";
import { pushNotSupported } from "./refusals.ts";
import type { Service } from "./service.ts";

/** Throws `push-not-supported` if the agent has no push notifications. Call it before any task is looked up, so that the error does not reveal which tasks exist. */
export function requirePush({ push, card }: Service): WebhookConfigService {
  if (push === undefined || card.capabilities.pushNotifications !== true) throw pushNotSupported();
  return push;
}

/** The service that stores the webhook of this message; `undefined` if the message has none. Throws as {@link requirePush} does. */
export function webhookConfigsFor(service: Service, { push }: SendRequest): WebhookConfigService | undefined {
  return push === undefined ? undefined : requirePush(service);
}

export function pushCaller({ agent }: Service, call: Call, tenant: string): PushCaller {
  return { scope: scopeOf(call, agent.id, tenant), dialect: call.dialect, policy: call.policy.push };
}
