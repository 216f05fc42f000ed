import { OPERATIONS, type Operation, type OperationPolicy, type OperationResult } from "../../protocol/operation.ts";
import type { RpcCodec } from "../codec.ts";
import { ERROR_TABLE } from "../error-table.ts";
import type { DialectSettings } from "../options.ts";
import { artifactNumbersOf } from "./artifact-numbers.ts";
import { encodeCard } from "./card.ts";
import { encodeError } from "./error.ts";
import { EVENT_FORMAT, encodeEvent, encodeOpening, eventName } from "./event.ts";
import type { NewId } from "./message.ts";
import { METHOD_OF } from "./methods.ts";
import { encodePush, encodePushes } from "./push.ts";
import { decodeRequest, type RequestParsing } from "./request.ts";
import { encodeTask, LARGE_TASK, repliedTaskObject } from "./task.ts";

const DIALECT = "0.1/jsonrpc";

/** The operation of each method of 0.1. */
const METHODS: ReadonlyMap<string, Operation> = new Map(
  OPERATIONS.flatMap((operation) => {
    const method = METHOD_OF[operation];
    return method === undefined ? [] : [[method, operation] as const];
  }),
);

/**
 * 0.1 clients choose task ids (A2A 0.1 §7.1.1), get only tasks (§7.1), have one webhook per task (§7.5), and identify artifacts by index
 * (§6.7).
 */
const POLICY: OperationPolicy = {
  closeOnInputRequired: true,
  terminalSubscribe: "snapshot",
  repeatCancel: "error",
  undeclaredExtendedCard: "unsupported-operation",
  namesTasks: true,
  tasksOnly: true,
  answersByReference: false,
  answersByContext: false,
  push: { single: true, missing: "nothing", afterFailure: "removed" },
  numbersArtifacts: () => true,
};

/** `newId` generates the ids of messages, which have none in 0.1. */
export function createRpcCodec(
  { blockingDefault, lenient }: DialectSettings,
  newId: NewId = () => crypto.randomUUID(),
): RpcCodec {
  const parsing: RequestParsing = { wait: blockingDefault[DIALECT], lenient: lenient !== false, newId };
  return {
    dialect: DIALECT,
    version: "0.1",
    policy: POLICY,
    // 0.1 has no extensions; clients that use them anyway send the header of 0.2.
    extensionsHeader: "x-a2a-extensions",
    operationOf: (method) => METHODS.get(method),
    decodeRequest: (operation, params) => decodeRequest(operation, params, parsing),
    encodeResult,
    encodeOpening: (opening) => encodeOpening(opening, EVENT_FORMAT),
    streamState: artifactNumbersOf,
    encodeEvent: (event, place) => encodeEvent(event, place, EVENT_FORMAT),
    largeTask: () => LARGE_TASK,
    eventName,
    encodeError,
    statusOf: ({ code }) => ERROR_TABLE[code].rpcHttp,
    // Clients of 0.1 read streams with SSE libraries that reject any other media type.
    streamErrorsAsEvents: true,
  };
}

/** Every send returns a task (A2A 0.1 §7.1). The results of operations that 0.1 lacks are never requested. */
function encodeResult(result: OperationResult): string {
  switch (result.kind) {
    case "sent":
    case "task":
      return encodeTask(result.task);
    case "replied":
      return JSON.stringify(repliedTaskObject(result.message));
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
