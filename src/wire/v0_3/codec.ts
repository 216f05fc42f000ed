import type { AgentCard } from "../../protocol/card.ts";
import type { OperationResult } from "../../protocol/operation.ts";
import type { Codec, RestCodec, RpcCodec } from "../codec.ts";
import { ERROR_TABLE } from "../error-table.ts";
import { asObject } from "../fields/fields.ts";
import { parsingOf } from "../fields/parsing.ts";
import type { DialectSettings, WaitingDialect } from "../options.ts";
import { encodeCard } from "./card.ts";
import { encodeError, mirroredError } from "./error.ts";
import { encodeOpening, eventEncoder } from "./event.ts";
import { type OutputFormat, outputFormatOf } from "./format.ts";
import { encodeMessage } from "./message.ts";
import { METHOD_OF, type MethodNames, operationsOf } from "./methods.ts";
import { encodePush, encodePushes, encodeRestPush, encodeRestPushes, withSuccess } from "./push.ts";
import { decodeRequest, decodeSend } from "./request.ts";
import { decodeRestRequest, nextPageLink, type RestStyle } from "./rest-request.ts";
import { encodeTask, largeTaskBy } from "./task.ts";

type SharedByVersion = Pick<Codec, "version" | "policy" | "extensionsHeader" | "encodeError">;

/** Shared by all bindings and styles of 0.3. */
export function sharedByVersion({ lenient }: DialectSettings): SharedByVersion {
  return {
    version: "0.3",
    policy: {
      closeOnInputRequired: true,
      // A2A 0.3 §7.9 states no error for a task that has ended; the official servers send the task and close.
      terminalSubscribe: "snapshot",
      // A2A 0.3 §8.2: a task that has ended, also as `canceled`, is not cancelable.
      repeatCancel: "error",
      undeclaredExtendedCard: "extended-card-not-configured",
      namesTasks: false,
      tasksOnly: false,
      // By the specification, `referenceTaskIds` are only hints.
      answersByReference: lenient !== false,
      push: { single: false, missing: "error", unnamedId: "default", afterFailure: "suspended" },
    },
    extensionsHeader: "x-a2a-extensions",
    encodeError,
  };
}

/** The differences between JSON-RPC of 0.2 and of 0.3. */
export interface RpcVariant {
  readonly dialect: WaitingDialect;
  readonly methods: MethodNames;
  readonly shared: SharedByVersion;
  readonly format: OutputFormat;
  /** Results of setting a webhook have the additional member `success: true`. */
  readonly addsSuccess: boolean;
  encodeCard(card: AgentCard): string;
}

/** JSON-RPC 0.3 (A2A 0.3 §3.2.1). */
export function createRpcCodec(settings: DialectSettings): RpcCodec {
  return createVariantRpcCodec(settings, {
    dialect: "0.3/jsonrpc",
    methods: METHOD_OF,
    shared: sharedByVersion(settings),
    format: outputFormatOf(settings),
    addsSuccess: settings.lenient !== false,
    encodeCard,
  });
}

/** JSON-RPC of 0.2 or 0.3. */
export function createVariantRpcCodec(settings: DialectSettings, variant: RpcVariant): RpcCodec {
  const { dialect, methods, shared, format } = variant;
  const parsing = { ...parsingOf(settings), absentWait: settings.blockingDefault[dialect] };
  const operations = operationsOf(methods, parsing.lenient);
  const largeTask = largeTaskBy(format);
  return {
    ...shared,
    dialect,
    operationOf: (method) => operations.get(method),
    decodeRequest: (operation, params) => decodeRequest(operation, params, parsing),
    encodeResult: (result) => {
      if (result.kind === "card") return variant.encodeCard(result.card);
      const text = encodeResult(result, format);
      return variant.addsSuccess && result.kind === "push" && result.set === true ? withSuccess(text) : text;
    },
    encodeOpening: (opening) => encodeOpening(opening, format),
    encodeEvent: eventEncoder(format),
    largeTask: () => largeTask,
    statusOf: ({ code }) => ERROR_TABLE[code].rpcHttp,
    // The official clients reject an answer to a streaming method that is not an event stream.
    streamErrorsAsEvents: true,
    streamsGets: parsing.lenient,
  };
}

/** REST in JSON style: the objects of JSON-RPC. */
export function createRestCodec(settings: DialectSettings): RestCodec {
  const dialect = "0.3/rest-json";
  const parsing = { ...parsingOf(settings), absentWait: settings.blockingDefault[dialect] };
  const style: RestStyle = {
    decodeSend: (operation, body) => decodeSend(operation, asObject(body ?? {}, "body"), parsing),
    history: (length) => length,
  };
  const largeTask = largeTaskBy(outputFormatOf(settings));
  return {
    ...sharedByVersion(settings),
    ...(settings.lenient === false ? wrappedAnswers(settings) : bareAnswers(settings)),
    dialect,
    decodeRequest: (operation, request) => decodeRestRequest(operation, request, style),
    nextPageLink,
    largeTask: () => largeTask,
    statusOf: ({ code }) => ERROR_TABLE[code].http0_3,
    mediaTypes: ["application/json"],
  };
}

type Answers = Pick<Codec, "encodeResult" | "encodeOpening" | "encodeEvent" | "encodeError">;

/** By the text of 0.3: wrapped in a member that names the kind, such as `task` or `statusUpdate`. */
function wrappedAnswers(settings: DialectSettings): Answers {
  const format = outputFormatOf(settings);
  const encodeEvent = eventEncoder(format);
  return {
    encodeResult: (result) => {
      if (result.kind === "sent") return `{"task":${encodeTask(result.task, format)}}`;
      if (result.kind === "replied") return `{"message":${encodeMessage(result.message, format)}}`;
      return encodeRestResult(result, format);
    },
    encodeOpening: (opening) => `{"${opening.kind}":${encodeOpening(opening, format)}}`,
    encodeEvent: (event, place) =>
      `{"${event.state === undefined ? "artifactUpdate" : "statusUpdate"}":${encodeEvent(event, place)}}`,
    encodeError,
  };
}

/**
 * As most servers write them: bare objects with `kind`, as in JSON-RPC. Each event contains a copy of itself as `result`, and each error
 * as `error`, for clients that read streams of JSON-RPC and REST with the same code.
 */
function bareAnswers(settings: DialectSettings): Answers {
  const format = outputFormatOf(settings);
  const encodeEvent = eventEncoder(format);
  return {
    encodeResult: (result) => {
      const text = encodeRestResult(result, format);
      return result.kind === "push" && result.set === true ? withSuccess(text) : text;
    },
    // A task with large members is written only once, because each placeholder is filled only once.
    encodeOpening: (opening) => {
      const text = encodeOpening(opening, format);
      return opening.kind === "task" && opening.task.large !== undefined ? text : mirroredEvent(text);
    },
    encodeEvent: (event, place) => mirroredEvent(encodeEvent(event, place)),
    encodeError: (error) => mirroredError(encodeError(error)),
  };
}

/** `{"kind":"task",…}` becomes `{"kind":"task",…,"result":{"kind":"task",…}}`. */
function mirroredEvent(text: string): string {
  return `${text.slice(0, -1)},"result":${text}}`;
}

/** REST differs from JSON-RPC in webhooks, which have resource names, and in the empty result. */
function encodeRestResult(result: OperationResult, format: OutputFormat): string {
  if (result.kind === "push") return encodeRestPush(result);
  if (result.kind === "pushes") return encodeRestPushes(result);
  if (result.kind === "push-deleted") return "{}";
  return encodeResult(result, format);
}

/** Bare objects, which `kind` tells apart (A2A 0.3 §7.1); lists are arrays (§7.7). */
function encodeResult(result: OperationResult, format: OutputFormat): string {
  switch (result.kind) {
    case "sent":
    case "task":
      return encodeTask(result.task, format);
    case "replied":
      return encodeMessage(result.message, format);
    case "tasks":
      return `[${result.tasks.map((task) => encodeTask(task, format)).join(",")}]`;
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
