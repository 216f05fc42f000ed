import fc from "fast-check";
import type { Operation } from "../../../protocol/operation.ts";
import { fieldRefused, hostileJson } from "../../test/hostile.ts";
import { encodeRpcRequest } from "../client-request.ts";
import { request } from "./models.ts";

const NAMES = [
  ...["message", "messageId", "message_id", "role", "parts", "text", "raw", "url", "data", "metadata", "configuration"],
  ...["id", "taskId", "task_id", "contextId", "historyLength", "pageSize", "pageToken", "status", "tenant"],
  ...["statusTimestampAfter", "includeArtifacts", "returnImmediately", "blocking", "acceptedOutputModes", "token"],
  ...["taskPushNotificationConfig", "authentication", "scheme", "credentials", "extensions", "referenceTaskIds"],
];

const words = hostileJson(NAMES, ["-0", "ROLE_USER", "2026-01-01T00:00:00Z"]);

export const anything: fc.Arbitrary<unknown> = words.anything;

/** The parameters of a valid request, with a member or item replaced, added or removed. */
export const mutated: fc.Arbitrary<readonly [Operation, unknown]> = request.chain((valid) => {
  const params = fc.constant<unknown>(JSON.parse(encodeRpcRequest(valid).params));
  return fc.tuple(fc.constant(valid.operation), words.mutated(params));
});

/** True if it succeeds, or throws invalid-params with at least one field. */
export function decodesOrNames(decode: () => boolean): boolean {
  let decoded = false;
  const field = fieldRefused(() => {
    decoded = decode();
  });
  return decoded || field !== undefined;
}
