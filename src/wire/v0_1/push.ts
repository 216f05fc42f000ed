import type { OperationResult } from "../../protocol/operation.ts";
import { readTask } from "../../protocol/serial.ts";
import type { PushCodec } from "../codec.ts";
import { EVENT_FORMAT, encodeEvent } from "./event.ts";
import { taskObject } from "./task.ts";

type PushResult = Extract<OperationResult, { readonly kind: "push" }>;
type PushesResult = Extract<OperationResult, { readonly kind: "pushes" }>;

/** The task's only webhook, without its id; `null` if the task has none. In 0.1 the member `id` is the task's id. */
export function encodePush({ taskId, config }: PushResult): string {
  if (config === undefined) return JSON.stringify({ id: taskId, pushNotificationConfig: null });
  const { id: _omitted, ...pushNotificationConfig } = config;
  return JSON.stringify({ id: taskId, pushNotificationConfig });
}

/** 0.1 has no method that lists webhooks; the codec contract requires an encoding. */
export function encodePushes({ taskId, configs }: PushesResult): string {
  return `[${configs.map((config) => encodePush({ kind: "push", taskId, config })).join(",")}]`;
}

/** Sends the task, with additional members that receivers of 0.1 read: `taskId`, `eventType` and `timestamp`. */
export const PUSH: PushCodec = {
  carries: "task",
  mediaType: "application/json",
  headers: {},
  tokenAsBearer: true,
  encodeEvent: (event, place) => encodeEvent(event, place, EVENT_FORMAT),
  encodeTask: (task, { kind, at }) =>
    JSON.stringify({
      ...taskObject(readTask(task)),
      taskId: task.id,
      eventType: kind,
      timestamp: new Date(at).toISOString(),
    }),
};
