import { OPERATIONS, type Operation, type OperationResult } from "../../protocol/operation.ts";
import { writeMessage } from "../../protocol/serial.ts";
import type { RestCodec, RpcCodec } from "../codec.ts";
import { ERROR_TABLE } from "../error-table.ts";
import { encodePageToken } from "../fields/page-token.ts";
import { type DialectSettings, REST_MEDIA_TYPES } from "../options.ts";
import { encodeCard } from "./card.ts";
import { encodeRestError, encodeRpcError, restErrorForm } from "./error.ts";
import { encodeEvent, encodeOpening } from "./event.ts";
import { METHOD_OF } from "./methods.ts";
import { encodePush, encodePushes } from "./push.ts";
import { decodeRequest } from "./request.ts";
import { paramsOf } from "./rest-request.ts";
import { encodeTask, LARGE_TASK } from "./task.ts";

const METHODS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ...OPERATIONS.map((operation) => [METHOD_OF[operation], operation] as const),
  // The name in the release candidates.
  ["ListTaskPushNotificationConfig", "push-list"],
]);

const SHARED = {
  version: "1.0",
  policy: {
    closeOnInputRequired: true,
    terminalSubscribe: "error",
    repeatCancel: "snapshot",
    undeclaredExtendedCard: "unsupported-operation",
    namesTasks: false,
    tasksOnly: false,
    answersByReference: false,
    push: { single: false, missing: "error", afterFailure: "suspended" },
  },
  extensionsHeader: "a2a-extensions",
  encodeResult,
  encodeOpening,
  encodeEvent,
  largeTask: () => LARGE_TASK,
} as const;

export function createRpcCodec(): RpcCodec {
  return {
    ...SHARED,
    dialect: "1.0/jsonrpc",
    operationOf: (method) => METHODS.get(method),
    decodeRequest,
    encodeError: encodeRpcError,
    statusOf: ({ code }) => ERROR_TABLE[code].rpcHttp,
    streamErrorsAsEvents: false,
  };
}

export function createRestCodec({ errorProfile, restMediaType }: DialectSettings): RestCodec {
  const [preferred, other] = REST_MEDIA_TYPES;
  return {
    ...SHARED,
    dialect: "1.0/rest",
    encodeResult: (result) => (result.kind === "push-deleted" ? "{}" : encodeResult(result)),
    decodeRequest: (operation, request) => decodeRequest(operation, paramsOf(operation, request)),
    encodeError: (error) => encodeRestError(error, restErrorForm(error, errorProfile)),
    statusOf: (error) => restErrorForm(error, errorProfile).code,
    mediaTypes: restMediaType === preferred ? [preferred, other] : [other, preferred],
  };
}

function encodeResult(result: OperationResult): string {
  switch (result.kind) {
    case "sent":
      return `{"task":${encodeTask(result.task)}}`;
    case "replied":
      return `{"message":${writeMessage(result.message)}}`;
    case "task":
      return encodeTask(result.task);
    case "tasks": {
      const token = result.next === undefined ? "" : encodePageToken(result.next);
      const page = `"nextPageToken":"${token}","pageSize":${result.pageSize},"totalSize":${result.total}`;
      return `{"tasks":[${result.tasks.map(encodeTask).join(",")}],${page}}`;
    }
    case "push":
      return encodePush(result);
    case "pushes":
      return encodePushes(result);
    case "push-deleted":
      return "null";
    case "card":
      return encodeCard(result.card);
  }
}
