import { PUSH_EVENT_KINDS } from "../../protocol/operation.ts";
import { listOf, mapOf, textOf } from "../fields/answer-fields.ts";
import { asObject, member, optionalString, type WireObject } from "../fields/fields.ts";
import type { RemotePushConfig } from "./client-codec.ts";

/** A webhook as the agent returns it: flat (1.0), or in the member `pushNotificationConfig` (0.x). */
export function decodeRemotePushConfig(owner: WireObject, path: string): Omit<RemotePushConfig, "taskId"> {
  const nested = member(owner, "pushNotificationConfig", "push_notification_config");
  const wire = nested === undefined ? owner : asObject(nested, `${path}.pushNotificationConfig`);
  const id = optionalString(member(wire, "id"), `${path}.id`);
  const token = optionalString(member(wire, "token"), `${path}.token`);
  const authentication = member(wire, "authentication");
  const headers = mapOf(member(wire, "headers"), `${path}.headers`, textOf);
  const named = listOf(member(wire, "events"), `${path}.events`, textOf);
  const events = PUSH_EVENT_KINDS.filter((kind) => named.includes(kind));
  return {
    url: textOf(member(wire, "url"), `${path}.url`),
    ...(id !== undefined && { id }),
    ...(token !== undefined && { token }),
    ...(authentication !== undefined && decodeAuthentication(authentication, `${path}.authentication`)),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(events.length > 0 && { events }),
  };
}

/** 1.0 has one `scheme`, 0.x a list of `schemes`. */
function decodeAuthentication(value: unknown, path: string): Pick<RemotePushConfig, "authentication"> {
  const wire = asObject(value, path);
  const listed = listOf(member(wire, "schemes"), `${path}.schemes`, textOf);
  const [scheme, ...others] = [textOf(member(wire, "scheme"), `${path}.scheme`), ...listed].filter(Boolean);
  if (scheme === undefined) return {};
  const credentials = optionalString(member(wire, "credentials"), `${path}.credentials`);
  return { authentication: { schemes: [scheme, ...others], ...(credentials !== undefined && { credentials }) } };
}
