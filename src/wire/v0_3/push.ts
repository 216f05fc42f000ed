import type { TaskId } from "../../protocol/ids.ts";
import type { KeptPushConfig, OperationResult } from "../../protocol/operation.ts";
import type { PushCodec } from "../codec.ts";
import { encodeEvent } from "./event.ts";
import { encodeTask } from "./task.ts";

/** The result of setting or getting a webhook. */
export type PushResult = Extract<OperationResult, { readonly kind: "push" }>;
/** The result of listing webhooks. */
export type PushesResult = Extract<OperationResult, { readonly kind: "pushes" }>;

/** A webhook with its task's id; `null` if there is none. */
export function encodePush({ taskId, config }: PushResult): string {
  return config === undefined ? "null" : JSON.stringify({ taskId, pushNotificationConfig: configObject(config) });
}

/** Adds `success: true` to the result of setting a webhook, for clients that check only that member. */
export function withSuccess(text: string): string {
  return `${text.slice(0, -1)},"success":true}`;
}

/** All webhooks: 0.3 has no pages. */
export function encodePushes({ taskId, configs }: PushesResult): string {
  return JSON.stringify(configs.map((config) => ({ taskId, pushNotificationConfig: configObject(config) })));
}

/** A webhook in REST: with its resource name, and with `taskId` for clients that read the JSON style. */
export function encodeRestPush({ taskId, config }: PushResult): string {
  return config === undefined ? "{}" : JSON.stringify(resourceObject(taskId, config));
}

/** The object of the proto definition; `nextPageToken` is always empty, because all webhooks are returned. */
export function encodeRestPushes({ taskId, configs }: PushesResult): string {
  return JSON.stringify({ configs: configs.map((config) => resourceObject(taskId, config)), nextPageToken: "" });
}

function resourceObject(taskId: TaskId, config: KeptPushConfig): object {
  return { name: resourceName(taskId, config.id), taskId, pushNotificationConfig: configObject(config) };
}

/** The name of a webhook in the proto definition of 0.3. The id may contain slashes, and is not percent-encoded. */
export function resourceName(taskId: TaskId, configId: string): string {
  return `tasks/${taskId}/pushNotificationConfigs/${configId}`;
}

/** 0.3 has no member for the event filter, so it is not written. It still applies. */
function configObject({ events: _omitted, ...config }: KeptPushConfig): object {
  return config;
}

/** Sends the whole task in JSON style, whatever binding registered the webhook (A2A 0.3 §9.5). */
export const PUSH: PushCodec = {
  carries: "task",
  mediaType: "application/json",
  headers: {},
  tokenAsBearer: false,
  encodeEvent,
  encodeTask: (task) => encodeTask(task),
};
