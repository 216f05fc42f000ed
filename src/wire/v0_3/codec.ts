import type { AgentCard } from "../../protocol/card.ts";
import type { OperationResult } from "../../protocol/operation.ts";
import type { Codec, RestCodec, RpcCodec } from "../codec.ts";
import { ERROR_TABLE } from "../error-table.ts";
import { asObject } from "../fields.ts";
import type { DialectSettings, WaitingDialect } from "../options.ts";
import { readingOf } from "../reading.ts";
import { encodeCard } from "./card.ts";
import { encodeError } from "./error.ts";
import { encodeEvent, encodeOpening } from "./event.ts";
import { encodeMessage } from "./message.ts";
import { METHOD_OF, type MethodNames, operationsOf } from "./methods.ts";
import { encodePush, encodePushes, encodeRestPush, encodeRestPushes } from "./push.ts";
import { decodeRequest, decodeSend } from "./request.ts";
import { decodeRestRequest, nextPageLink, type RestStyle } from "./rest-request.ts";
import { encodeTask, LARGE_TASK } from "./task.ts";

type SharedByVersion = Pick<Codec, "version" | "policy" | "extensionsHeader" | "encodeError">;

/** What every binding and style of this version has in common. */
export function sharedByVersion({ lenient }: DialectSettings): SharedByVersion {
  return {
    version: "0.3",
    policy: {
      closeOnInputRequired: true,
      terminalSubscribe: "snapshot",
      repeatCancel: "error",
      undeclaredExtendedCard: "extended-card-not-configured",
      namesTasks: false,
      tasksOnly: false,
      // By the text, a reference is a hint and nothing more.
      answersByReference: lenient !== false,
      push: { single: false, missing: "error", unnamedId: "default", afterFailure: "suspended" },
    },
    extensionsHeader: "x-a2a-extensions",
    encodeError,
  };
}

/** Where versions differ that have this vocabulary. */
export interface RpcVariant {
  readonly dialect: WaitingDialect;
  readonly methods: MethodNames;
  readonly shared: SharedByVersion;
  encodeCard(card: AgentCard): string;
}

export function createRpcCodec(settings: DialectSettings): RpcCodec {
  return createVariantRpcCodec(settings, {
    dialect: "0.3/jsonrpc",
    methods: METHOD_OF,
    shared: sharedByVersion(settings),
    encodeCard,
  });
}

/** JSON-RPC of any version that has this vocabulary. */
export function createVariantRpcCodec(settings: DialectSettings, variant: RpcVariant): RpcCodec {
  const { dialect, methods, shared } = variant;
  const reading = { ...readingOf(settings), absentWait: settings.blockingDefault[dialect] };
  const operations = operationsOf(methods, reading.liberal);
  return {
    ...shared,
    dialect,
    operationOf: (method) => operations.get(method),
    decodeRequest: (operation, params) => decodeRequest(operation, params, reading),
    encodeResult: (result) => (result.kind === "card" ? variant.encodeCard(result.card) : encodeResult(result)),
    encodeOpening,
    encodeEvent,
    largeTask: () => LARGE_TASK,
    statusOf: ({ code }) => ERROR_TABLE[code].rpcHttp,
    // Its official clients refuse an answer to this that is not a stream.
    refusesByEvent: true,
    streamsGets: reading.liberal,
  };
}

/** REST in JSON style: the objects of JSON-RPC, those of which there are several kinds in a member that names it. */
export function createRestCodec(settings: DialectSettings): RestCodec {
  const dialect = "0.3/rest-json";
  const reading = { ...readingOf(settings), absentWait: settings.blockingDefault[dialect] };
  const style: RestStyle = {
    decodeSend: (operation, body) => decodeSend(operation, asObject(body ?? {}, "body"), reading),
    history: (length) => length,
  };
  return {
    ...sharedByVersion(settings),
    dialect,
    decodeRequest: (operation, request) => decodeRestRequest(operation, request, style),
    encodeResult: encodeRestResult,
    nextPageLink,
    largeTask: () => LARGE_TASK,
    encodeOpening: (opening) => `{"${opening.kind}":${encodeOpening(opening)}}`,
    encodeEvent: (event, place) =>
      `{"${event.state === undefined ? "artifactUpdate" : "statusUpdate"}":${encodeEvent(event, place)}}`,
    statusOf: ({ code }) => ERROR_TABLE[code].http0_3,
    mediaTypes: ["application/json"],
  };
}

function encodeRestResult(result: OperationResult): string {
  if (result.kind === "sent") return `{"task":${encodeTask(result.task)}}`;
  if (result.kind === "replied") return `{"message":${encodeMessage(result.message)}}`;
  if (result.kind === "push") return encodeRestPush(result);
  if (result.kind === "pushes") return encodeRestPushes(result);
  if (result.kind === "push-deleted") return "{}";
  return encodeResult(result);
}

function encodeResult(result: OperationResult): string {
  switch (result.kind) {
    case "sent":
    case "task":
      return encodeTask(result.task);
    case "replied":
      return encodeMessage(result.message);
    case "tasks":
      return `[${result.tasks.map(encodeTask).join(",")}]`;
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
