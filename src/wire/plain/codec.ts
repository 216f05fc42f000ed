import { A2AError } from "../../protocol/error.ts";
import type { OperationPolicy, OperationResult } from "../../protocol/operation.ts";
import type { RestCodec } from "../codec.ts";
import { ERROR_TABLE } from "../error-table.ts";
import type { DialectSettings } from "../options.ts";
import { PLAIN_VERSION } from "./binding.ts";
import { encodeError } from "./error.ts";
import { largeTask } from "./large-task.ts";
import type { PlainParsing } from "./message.ts";
import { decodeRequest } from "./request.ts";
import { encodeTask } from "./task.ts";

/**
 * Callers poll and see no questions: a task that waits is `working`. So a message with a session never answers a question by its context
 * alone.
 */
const POLICY: OperationPolicy = {
  closeOnInputRequired: true,
  terminalSubscribe: "snapshot",
  repeatCancel: "error",
  undeclaredExtendedCard: "unsupported-operation",
  namesTasks: false,
  tasksOnly: true,
  answersByReference: false,
  answersByContext: false,
  push: { single: false, missing: "error", afterFailure: "suspended" },
};

/** `newId` generates the ids of messages, which need none in the plain dialect. */
export function createRestCodec(
  { lenient }: Pick<DialectSettings, "lenient">,
  newId: () => string = () => crypto.randomUUID(),
): RestCodec {
  const parsing: PlainParsing = { lenient: lenient !== false, newId };
  return {
    dialect: "plain",
    version: PLAIN_VERSION,
    policy: POLICY,
    extensionsHeader: "a2a-extensions",
    decodeRequest: (operation, request) => decodeRequest(operation, request, parsing),
    encodeResult,
    encodeOpening: inexpressible,
    encodeEvent: inexpressible,
    largeTask,
    encodeError,
    statusOf: ({ code }) => ERROR_TABLE[code].http,
    mediaTypes: ["application/json"],
  };
}

function encodeResult(result: OperationResult): string {
  return result.kind === "sent" || result.kind === "task" ? encodeTask(result.task) : inexpressible();
}

/** Unreachable: the plain dialect has no routes for streams, lists, webhooks and cards. */
function inexpressible(): never {
  throw new A2AError("unsupported-operation", "The plain dialect supports only sending messages and getting tasks");
}
