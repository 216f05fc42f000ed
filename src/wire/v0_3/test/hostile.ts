import type fc from "fast-check";
import { type HostileJson, hostileJson } from "../../test/hostile.ts";

const NAMES = [
  ...["message", "messageId", "role", "parts", "kind", "type", "text", "file", "bytes", "uri", "url", "name"],
  ...["mimeType", "data", "metadata", "configuration", "blocking", "historyLength", "acceptedOutputModes"],
  ...["extensions", "value", "pushNotificationConfig", "pushNotificationConfigId", "authentication", "schemes"],
  ...["credentials", "token", "id", "taskId", "contextId", "referenceTaskIds", "config", "configId", "mediaType"],
  ...["data_part_compat"],
];

const words = hostileJson(NAMES, ["user", "message", "text", "file", "data"]);

export const anything: fc.Arbitrary<unknown> = words.anything;
export const mutated: HostileJson["mutated"] = words.mutated;
