import type { OperationResult, PushConfig } from "../../protocol/operation.ts";
import type { PushCodec } from "../codec.ts";
import { encodeIdToken } from "../fields/page-token.ts";
import { encodeEvent } from "./event.ts";
import { encodeTask } from "./task.ts";

type PushResult = Extract<OperationResult, { readonly kind: "push" }>;
type PushesResult = Extract<OperationResult, { readonly kind: "pushes" }>;

/** One flat object. 1.0 has no members for the headers and event filter of a webhook, so they are not written. They still apply. */
export function encodePush({ taskId, config }: PushResult): string {
  return config === undefined ? "{}" : JSON.stringify(pushObject(taskId, config));
}

/** One page of webhooks. `nextPageToken` is empty on the last page. */
export function encodePushes({ taskId, configs, next }: PushesResult): string {
  return JSON.stringify({
    configs: configs.map((config) => pushObject(taskId, config)),
    nextPageToken: next === undefined ? "" : encodeIdToken(next),
  });
}

/** 1.0 has one authentication scheme; of several, the one in use is written. */
export function pushObject(taskId: string, { id, url, token, authentication }: PushConfig): object {
  const [scheme] = authentication?.schemes ?? [];
  return {
    id,
    taskId,
    url,
    token,
    authentication: authentication && { scheme, credentials: authentication.credentials },
  };
}

/** Sends each event in the format of streams (A2A 1.0 §4.3.3); streams and webhooks share the cached text. */
export const PUSH: PushCodec = {
  carries: "event",
  mediaType: "application/a2a+json",
  headers: {},
  tokenAsBearer: false,
  encodeEvent,
  encodeTask: (task) => `{"task":${encodeTask(task)}}`,
};
