import type { TaskId } from "../../protocol/ids.ts";
import type { KeptPushConfig } from "../../protocol/operation.ts";
import { type PushesResult, type PushResult, resourceName } from "../v0_3/push.ts";

/** `{"name":"tasks/t1/pushNotificationConfigs/p1","pushNotificationConfig":{"id":"p1","url":…}}`; `{}` if there is none. */
export function encodePush({ taskId, config }: PushResult): string {
  return config === undefined ? "{}" : JSON.stringify(resourceObject(taskId, config));
}

/** All webhooks of the task; `nextPageToken` is always empty. */
export function encodePushes({ taskId, configs }: PushesResult): string {
  return JSON.stringify({ configs: configs.map((config) => resourceObject(taskId, config)), nextPageToken: "" });
}

/** Only members of the proto definition, because its readers reject unknown members. */
function resourceObject(taskId: TaskId, { id, url, token, authentication }: KeptPushConfig): object {
  return { name: resourceName(taskId, id), pushNotificationConfig: { id, url, token, authentication } };
}
