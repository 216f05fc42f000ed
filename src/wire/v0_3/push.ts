import type { TaskId } from "../../protocol/ids.ts";
import type { KeptPushConfig, OperationResult } from "../../protocol/operation.ts";
import type { PushCodec } from "../codec.ts";
import { encodeEvent } from "./event.ts";
import { encodeTask } from "./task.ts";

export type PushResult = Extract<OperationResult, { readonly kind: "push" }>;
export type PushesResult = Extract<OperationResult, { readonly kind: "pushes" }>;

/** A configuration below the id of its task. `null`: there is none. */
export function encodePush({ taskId, config }: PushResult): string {
  return config === undefined ? "null" : JSON.stringify({ taskId, pushNotificationConfig: configObject(config) });
}

/** The text of a configuration that was just set, for clients that look for `success` and nothing else. */
export function withSuccess(text: string): string {
  return `${text.slice(0, -1)},"success":true}`;
}

/** All of them: lists have no pages here. */
export function encodePushes({ taskId, configs }: PushesResult): string {
  return JSON.stringify(configs.map((config) => ({ taskId, pushNotificationConfig: configObject(config) })));
}

/** REST knows configurations as resources, which have names. Readers of this style also look for the id of the task. */
export function encodeRestPush({ taskId, config }: PushResult): string {
  return config === undefined ? "{}" : JSON.stringify(resourceObject(taskId, config));
}

export function encodeRestPushes({ taskId, configs }: PushesResult): string {
  return JSON.stringify({ configs: configs.map((config) => resourceObject(taskId, config)), nextPageToken: "" });
}

function resourceObject(taskId: TaskId, config: KeptPushConfig): object {
  return { name: resourceName(taskId, config.id), taskId, pushNotificationConfig: configObject(config) };
}

export function resourceName(taskId: TaskId, configId: string): string {
  return `tasks/${taskId}/pushNotificationConfigs/${configId}`;
}

/** Which events a webhook is told of has no member here: it counts all the same. */
function configObject({ events: _omitted, ...config }: KeptPushConfig): object {
  return config;
}

/** The task as it stands, however its caller speaks otherwise: that is what receivers of this version know. */
export const PUSH: PushCodec = {
  carries: "task",
  mediaType: "application/json",
  headers: {},
  tokenAsBearer: false,
  encodeEvent,
  encodeTask: (task) => encodeTask(task),
};
