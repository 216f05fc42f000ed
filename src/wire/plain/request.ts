import { A2AError, invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Operation, OperationRequest, SendRequest } from "../../protocol/operation.ts";
import type { RestRequest } from "../codec.ts";
import { asId, asObject, member, optionalId, typeName, type WireObject } from "../fields/fields.ts";
import { decodeLinks, decodeMessage, type PlainParsing } from "./message.ts";

/** Milliseconds that a task may run if the request has no `timeoutMs`. */
const DEFAULT_TIMEOUT_MS = 300_000;
/** The maximum of timers in JavaScript: 24.8 days. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/**
 * Decodes both requests of the plain dialect. Throws `invalid-params` for an invalid field, `unsupported-operation` for other operations.
 */
export function decodeRequest(
  operation: Operation,
  { path, body }: RestRequest,
  parsing: PlainParsing,
): OperationRequest {
  if (operation === "send") return decodeSend(body, parsing);
  if (operation === "get") return { operation, tenant: "", id: asId(path["id"], "id") as TaskId, history: undefined };
  throw new A2AError("unsupported-operation", "The plain dialect supports only sending messages and getting tasks");
}

/** Sends answer at once: callers of the plain dialect poll. */
function decodeSend(body: unknown, parsing: PlainParsing): SendRequest {
  const { wire, place } = parameters(asObject(body ?? {}, "body"));
  const message = decodeMessage(member(wire, "message"), `${place}message`, parsing);
  const skill = optionalId(member(wire, "skill"), `${place}skill`);
  return {
    operation: "send",
    tenant: "",
    message: withLinks(message, decodeLinks(wire, place, parsing.lenient), place),
    // Lets the agent distinguish sessions that another agent started from those of a person.
    metadata: { source: "agent", ...(skill !== undefined && { skillId: skill }) },
    outputModes: [],
    history: undefined,
    waitMs: 0,
    timeoutMs: decodeTimeout(member(wire, "timeoutMs"), `${place}timeoutMs`),
  };
}

interface Parameters {
  readonly wire: WireObject;
  /** Prefix of field names in errors. */
  readonly place: string;
}

/** The parameters may be the body itself, or its member `params` as in JSON-RPC. */
function parameters(body: WireObject): Parameters {
  const params = member(body, "params");
  if (params === undefined) return { wire: body, place: "" };
  if (member(body, "message") !== undefined) throw invalidField("params", "must not be combined with message");
  return { wire: asObject(params, "params"), place: "params." };
}

/** Session and task may be given beside the message, in it, or in both if they are equal. */
function withLinks(message: Message, beside: Pick<Message, "contextId" | "taskId">, place: string): Message {
  for (const [name, field] of [
    ["contextId", "sessionId"],
    ["taskId", "taskId"],
  ] as const) {
    const inside = message[name];
    if (beside[name] !== undefined && inside !== undefined && beside[name] !== inside)
      throw invalidField(`${place}${field}`, "differs from that of the message");
  }
  return { ...message, ...beside };
}

/** Fractions of a millisecond are rounded up. */
function decodeTimeout(value: unknown, path: string): number {
  if (value === undefined) return DEFAULT_TIMEOUT_MS;
  if (typeof value !== "number") throw invalidField(path, `must be a number, not ${typeName(value)}`);
  if (!(value > 0)) throw invalidField(path, "must be more than 0");
  if (value > MAX_TIMEOUT_MS) throw invalidField(path, `must be at most ${MAX_TIMEOUT_MS}`);
  return Math.ceil(value);
}
