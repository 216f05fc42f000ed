import type { OperationResult, PushConfig } from "../../protocol/operation.ts";
import type { PushCodec } from "../codec.ts";
import { encodeIdToken } from "../fields/page-token.ts";
import { encodeEvent } from "./event.ts";
import { encodeTask } from "./task.ts";

type PushResult = Extract<OperationResult, { readonly kind: "push" }>;
type PushesResult = Extract<OperationResult, { readonly kind: "pushes" }>;

/** One flat object. What else a webhook may have been set with, this version has no members for: it counts all the same. */
export function encodePush({ taskId, config }: PushResult): string {
  return config === undefined ? "{}" : JSON.stringify(pushObject(taskId, config));
}

export function encodePushes({ taskId, configs, next }: PushesResult): string {
  return JSON.stringify({
    configs: configs.map((config) => pushObject(taskId, config)),
    nextPageToken: next === undefined ? "" : encodeIdToken(next),
  });
}

/** Of several schemes, the one that counts. */
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

/** Every event by itself, as streams have it: the same text serves both. */
export const PUSH: PushCodec = {
  carries: "event",
  mediaType: "application/a2a+json",
  headers: {},
  tokenAsBearer: false,
  encodeEvent,
  encodeTask: (task) => `{"task":${encodeTask(task)}}`,
};
