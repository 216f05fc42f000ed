// ProtoJSON of the 0.3 definition (`a2a.v1`). The text of A2A 0.3 §3.2.3 asks for the objects of JSON-RPC, but the official libraries write
// and read this style. Its differences: `content` instead of `parts`, `ROLE_USER`, `TASK_STATE_…`, no `kind`, resource names, defaults
// omitted.

import type { OperationResult } from "../../protocol/operation.ts";
import type { RestCodec } from "../codec.ts";
import { ERROR_TABLE } from "../error-table.ts";
import type { DialectSettings } from "../options.ts";
import { sharedByVersion } from "../v0_3/codec.ts";
import { mirroredError } from "../v0_3/error.ts";
import { decodeRestRequest, nextPageLink, type RestStyle } from "../v0_3/rest-request.ts";
import { encodeCard } from "./card.ts";
import { encodeError } from "./error.ts";
import { encodeEvent, encodeOpening } from "./event.ts";
import { encodePush, encodePushes } from "./push.ts";
import { decodeSend, historyOf } from "./request.ts";
import { encodeTask, LARGE_TASK } from "./task.ts";

/** REST 0.3 as the official libraries implement it: ProtoJSON of the gRPC definition at the REST paths of 0.3. */
export function createRestCodec(settings: DialectSettings): RestCodec {
  const dialect = "0.3/rest-proto";
  const style: RestStyle = {
    decodeSend: (operation, body) => decodeSend(operation, body, settings.blockingDefault[dialect]),
    history: historyOf,
  };
  return {
    ...sharedByVersion(settings),
    dialect,
    mediaTypes: ["application/json"],
    decodeRequest: (operation, request) => decodeRestRequest(operation, request, style),
    encodeResult,
    nextPageLink,
    encodeOpening,
    encodeEvent,
    largeTask: () => LARGE_TASK,
    encodeError: settings.lenient === false ? encodeError : (error) => mirroredError(encodeError(error)),
    statusOf: ({ code }) => ERROR_TABLE[code].http0_3,
  };
}

/**
 * A send wraps its answer in `task` or `message`; all other operations return the task itself. Tasks are listed as an array, webhooks as
 * `configs`.
 */
function encodeResult(result: OperationResult): string {
  switch (result.kind) {
    case "sent":
      return encodeOpening({ kind: "task", task: result.task });
    case "replied":
      return encodeOpening({ kind: "message", message: result.message });
    case "task":
      return encodeTask(result.task);
    case "tasks":
      return `[${result.tasks.map(encodeTask).join(",")}]`;
    case "push":
      return encodePush(result);
    case "pushes":
      return encodePushes(result);
    case "push-deleted":
      return "{}";
    case "card":
      return encodeCard(result.card);
  }
}
