import { A2AError, invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Operation, OperationRequest, SendRequest } from "../../protocol/operation.ts";
import type { RestRequest } from "../codec.ts";
import { asId, asObject, member, optionalId, typeName, type WireObject } from "../fields/fields.ts";
import { decodeLinks, decodeMessage, type PlainParsing } from "./message.ts";

/** Milliseconds a task may work where its caller does not say. */
const DEFAULT_TIMEOUT_MS = 300_000;
/** As far as timers reach: over three weeks. */
const MAX_TIMEOUT_MS = 2_147_483_647;

export function decodeRequest(
  operation: Operation,
  { path, body }: RestRequest,
  parsing: PlainParsing,
): OperationRequest {
  if (operation === "send") return decodeSend(body, parsing);
  if (operation === "get") return { operation, tenant: "", id: asId(path["id"], "id") as TaskId, history: undefined };
  throw new A2AError("unsupported-operation", "The plain dialect sends and gets tasks, and nothing else");
}

/** Sends answer at once: callers of this dialect come back and look. */
function decodeSend(body: unknown, parsing: PlainParsing): SendRequest {
  const { wire, place } = parameters(asObject(body ?? {}, "body"));
  const message = decodeMessage(member(wire, "message"), `${place}message`, parsing);
  const skill = optionalId(member(wire, "skill"), `${place}skill`);
  return {
    operation: "send",
    tenant: "",
    message: withLinks(message, decodeLinks(wire, place, parsing.lenient), place),
    // Who writes the agent can tell a session that another agent began from one that a person did.
    metadata: { source: "agent", ...(skill !== undefined && { skillId: skill }) },
    outputModes: [],
    history: undefined,
    waitMs: 0,
    timeoutMs: decodeTimeout(member(wire, "timeoutMs"), `${place}timeoutMs`),
  };
}

interface Parameters {
  readonly wire: WireObject;
  /** What the names of fields begin with. */
  readonly place: string;
}

/** Bare, or in the member in which JSON-RPC has them. */
function parameters(body: WireObject): Parameters {
  const params = member(body, "params");
  if (params === undefined) return { wire: body, place: "" };
  if (member(body, "message") !== undefined) throw invalidField("params", "must not stand beside message");
  return { wire: asObject(params, "params"), place: "params." };
}

/** What the request says of session and task may stand beside the message or in it, but not differ. */
function withLinks(message: Message, beside: Pick<Message, "contextId" | "taskId">, place: string): Message {
  for (const [name, field] of [
    ["contextId", "sessionId"],
    ["taskId", "taskId"],
  ] as const) {
    const inside = message[name];
    if (beside[name] !== undefined && inside !== undefined && beside[name] !== inside)
      throw invalidField(`${place}${field}`, "is another than that of the message");
  }
  return { ...message, ...beside };
}

function decodeTimeout(value: unknown, path: string): number {
  if (value === undefined) return DEFAULT_TIMEOUT_MS;
  if (typeof value !== "number") throw invalidField(path, `must be a number, not ${typeName(value)}`);
  if (!(value > 0)) throw invalidField(path, "must be more than 0");
  if (value > MAX_TIMEOUT_MS) throw invalidField(path, `must be at most ${MAX_TIMEOUT_MS}`);
  return Math.ceil(value);
}
