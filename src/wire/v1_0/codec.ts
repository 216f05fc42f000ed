import { OPERATIONS, type Operation, type OperationRequest, type OperationResult } from "../../protocol/operation.ts";
import { type StoredTask, writeMessage } from "../../protocol/serial.ts";
import type { Codec, RestCodec, RestRequest, RpcCodec } from "../codec.ts";
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

/** The operation of each JSON-RPC method. */
const METHODS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ...OPERATIONS.map((operation) => [METHOD_OF[operation], operation] as const),
  // The name in the release candidates.
  ["ListTaskPushNotificationConfig", "push-list"],
]);

/** Shared by JSON-RPC and REST (A2A 1.0 §5.1: all bindings behave alike). */
const SHARED = {
  policy: {
    // A2A 1.0 §11.7 ends the stream of a send at a question; §3.1.2 names only terminal states. Clients that send a message wait for the
    // end of the stream, so it ends at the question.
    closeOnInputRequired: true,
    // A2A 1.0 §3.1.6: `UnsupportedOperationError` for a task that has ended.
    terminalSubscribe: "error",
    // A2A 1.0 §3.3.1: canceling is idempotent.
    repeatCancel: "snapshot",
    // A2A 1.0 §3.1.11.
    undeclaredExtendedCard: "unsupported-operation",
    namesTasks: false,
    tasksOnly: false,
    answersByReference: false,
    push: { single: false, missing: "error", afterFailure: "suspended" },
  },
  extensionsHeader: "a2a-extensions",
  largeTask: () => LARGE_TASK,
} as const;

function sharedBy({
  version,
  encodeOpening,
  encodeEvent,
  encodeTask,
}: Variant): typeof SHARED & Pick<Codec, "version" | "encodeOpening" | "encodeEvent" | "encodeResult"> {
  const encodeResult = (result: OperationResult): string => resultText(result, encodeTask);
  return { ...SHARED, version, encodeOpening, encodeEvent, encodeResult };
}

/** What a later version may change. */
export interface Variant extends Pick<Codec, "version" | "encodeOpening" | "encodeEvent"> {
  encodeTask(task: StoredTask): string;
  /** Decodes the parameters of JSON-RPC, and the ProtoJSON of gRPC. */
  decodeRequest(operation: Operation, params: unknown): OperationRequest;
  /** Converts a REST request to the parameters of JSON-RPC. */
  paramsOf(operation: Operation, request: RestRequest): unknown;
}

const OWN: Variant = { version: "1.0", encodeOpening, encodeEvent, encodeTask, decodeRequest, paramsOf };

/** JSON-RPC 1.0 (A2A 1.0 §9). */
export function createRpcCodec(): RpcCodec {
  return createVariantRpcCodec(OWN);
}

/** JSON-RPC of 1.0, or of a later version. */
export function createVariantRpcCodec(variant: Variant): RpcCodec {
  const { version, decodeRequest } = variant;
  return {
    ...sharedBy(variant),
    dialect: `${version}/jsonrpc`,
    operationOf: (method) => METHODS.get(method),
    decodeRequest,
    encodeError: encodeRpcError,
    statusOf: ({ code }) => ERROR_TABLE[code].rpcHttp,
    streamErrorsAsEvents: false,
  };
}

/** REST 1.0 (A2A 1.0 §11). Takes the settings where the editions 1.0.0 and 1.0.1 differ: error statuses and media type. */
export function createRestCodec(settings: DialectSettings): RestCodec {
  return createVariantRestCodec(settings, OWN);
}

/** REST of 1.0, or of a later version. */
export function createVariantRestCodec(settings: DialectSettings, variant: Variant): RestCodec {
  const { errorProfile, restMediaType } = settings;
  const { version, decodeRequest, paramsOf } = variant;
  const [preferred, other] = REST_MEDIA_TYPES;
  const shared = sharedBy(variant);
  return {
    ...shared,
    dialect: `${version}/rest`,
    encodeResult: (result) => (result.kind === "push-deleted" ? "{}" : shared.encodeResult(result)),
    decodeRequest: (operation, request) => decodeRequest(operation, paramsOf(operation, request)),
    encodeError: (error) => encodeRestError(error, restErrorForm(error, errorProfile)),
    statusOf: (error) => restErrorForm(error, errorProfile).code,
    mediaTypes: restMediaType === preferred ? [preferred, other] : [other, preferred],
  };
}

/**
 * A send wraps its answer in `task` or `message` (A2A 1.0 §3.1.1); all other operations return the task itself. A deletion has no result:
 * `null` in JSON-RPC, `{}` in REST.
 */
function resultText(result: OperationResult, encodeTask: Variant["encodeTask"]): string {
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
