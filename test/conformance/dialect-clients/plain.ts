import { exchange, type HttpAnswer, typeOf } from "../http.ts";
import type { Fields } from "../neutral.ts";
import { asText, asTimestamp, listOf, objectWith, wrong } from "../strict.ts";

/** A task in the plain dialect. */
export interface PlainTask {
  readonly id: string;
  readonly state: (typeof STATES)[number];
  /** The messages of the task. */
  readonly said: ReadonlyArray<readonly [role: "user" | "agent", text: string]>;
  readonly sessionId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface PlainRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly fields: readonly string[];
}

/**
 * A caller of the plain dialect, over real HTTP. The dialect has two operations and is not a version of the protocol.
 */
export interface PlainCaller {
  /** Throws if the send is refused. */
  send(body: Fields): Promise<PlainTask>;
  get(id: string): Promise<PlainTask>;
  /** The refusal of a send; throws if it succeeds. */
  refusedSend(body: Fields): Promise<PlainRefusal>;
  refusedGet(id: string): Promise<PlainRefusal>;
}

const STATES = ["submitted", "working", "completed", "failed"] as const;

export function plainAt(address: string, headers: Readonly<Record<string, string>> = {}): PlainCaller {
  const post = (body: Fields) =>
    exchange({
      method: "POST",
      url: `${address}/a2a/tasks/send`,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const look = (id: string) =>
    exchange({ method: "GET", url: `${address}/a2a/tasks/${encodeURIComponent(id)}`, headers });
  return {
    send: async (body) => readTask(await post(body)),
    get: async (id) => readTask(await look(id)),
    refusedSend: async (body) => readRefusal(await post(body)),
    refusedGet: async (id) => readRefusal(await look(id)),
  };
}

function bodyOf(answer: HttpAnswer): unknown {
  if (typeOf(answer) !== "application/json") wrong("content-type", "must be application/json", typeOf(answer));
  return JSON.parse(answer.text);
}

function readTask(answer: HttpAnswer): PlainTask {
  if (answer.status !== 200) wrong("HTTP status", "must be 200", answer.text);
  const fields = objectWith(bodyOf(answer), "task", {
    required: ["id", "state", "messages", "sessionId", "createdAt", "updatedAt"],
  });
  return {
    id: asText(fields["id"], "id"),
    state: STATES.find((state) => state === fields["state"]) ?? wrong("state", "is none of four", fields),
    said: listOf(readMessage)(fields["messages"], "messages"),
    sessionId: asText(fields["sessionId"], "sessionId"),
    createdAt: asTimestamp(fields["createdAt"], "createdAt"),
    updatedAt: asTimestamp(fields["updatedAt"], "updatedAt"),
  };
}

function readMessage(value: unknown, path: string): PlainTask["said"][number] {
  const { role, parts } = objectWith(value, path, { required: ["role", "parts"] });
  const texts = listOf((part, place) => {
    const { type, text } = objectWith(part, place, { required: ["type", "text"] });
    return type === "text" ? asText(text, place) : wrong(place, "is no text", part);
  })(parts, `${path}.parts`);
  if (texts.length === 0) wrong(path, "says nothing", value);
  return [role === "user" || role === "agent" ? role : wrong(path, "is nobody's", value), texts.join("\n")];
}

function readRefusal(answer: HttpAnswer): PlainRefusal {
  if (answer.status < 400) wrong("HTTP status", "must be one of an error", answer.text);
  const { error } = objectWith(bodyOf(answer), "body", { required: ["error"] });
  const { code, message, violations } = objectWith(error, "error", {
    required: ["code", "message"],
    optional: ["violations", "details"],
  });
  const fields = listOf((violation, path) => {
    const { field } = objectWith(violation, path, { required: ["field", "description"] });
    return asText(field, path);
  })(violations ?? [], "violations");
  return { status: answer.status, code: asText(code, "code"), message: asText(message, "message"), fields };
}
