import { A2AError, invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { PUSH_EVENT_KINDS, type PushEventKind } from "../../protocol/operation.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { RemoteEvent } from "../client/client-codec.ts";
import { asObject, isWireObject, member, type WireObject } from "../fields/fields.ts";
import { decodeRemoteEvent as decodeEvent0_1 } from "../v0_1/event.ts";
import { decodeRemoteEvent as decodeEvent0_3 } from "../v0_3/event.ts";
import { decodeRemoteEvent as decodeEvent1_0 } from "../v1_0/event.ts";

/** What a webhook was told, whichever version it was told in. */
export interface Notification {
  /** Absent only from a message that belongs to no task. */
  readonly taskId?: TaskId;
  /** The task's, where the notification says it: news of an artifact do not. */
  readonly state?: TaskState;
  /** What a whole task is sent because of, where its sender says so. */
  readonly about?: PushEventKind;
  /** All there is. */
  readonly event: RemoteEvent;
}

/**
 * Reads the parsed body of a notification: an event as newer versions send it, a task as older ones do, or the oldest one's form,
 * which may be no more than the name of a state. Throws an `A2AError` of code `invalid-params` that names the field.
 */
export function readNotification(body: unknown): Notification {
  return readBody(() => {
    const wire = unwrapped(asObject(body, "body"));
    const event = decodeEvent(wire);
    const about = PUSH_EVENT_KINDS.find((kind) => kind === wire["eventType"]);
    return { ...placeOf(event), ...(about !== undefined && { about }), event };
  });
}

/** Some wrap what they send as if it were an answer. */
function unwrapped(wire: WireObject): WireObject {
  const { jsonrpc, result } = wire;
  return jsonrpc !== undefined && isWireObject(result) ? result : wire;
}

const WRAPPERS = [
  ["task", "task"],
  ["message", "message"],
  ["statusUpdate", "status_update"],
  ["artifactUpdate", "artifact_update"],
] as const;
const NAMES = WRAPPERS.map(([name]) => name).join(", ");

function decodeEvent(wire: WireObject): RemoteEvent {
  if (typeof wire["kind"] === "string") return decodeEvent0_3(wire);
  if (isBare(wire)) return hasStateConstant(wire) ? decodeEvent1_0(wire) : decodeEvent0_1(withFullStatus(wire));
  const [payload, another] = WRAPPERS.map(([name, alias]) => member(wire, name, alias)).filter(isWireObject);
  // Who checks one of them and then believes the other would be fooled.
  if (another !== undefined) throw invalidField("body", `must have only one of ${NAMES}`);
  if (payload === undefined) throw invalidField("body", `must be a task, or have one of ${NAMES}`);
  return typeof payload["kind"] === "string" ? decodeEvent0_3(wire) : decodeEvent1_0(wire);
}

function isBare(wire: WireObject): boolean {
  return ["status", "artifact", "parts"].some((name) => member(wire, name) !== undefined);
}

/** Only versions that name states as constants do so. */
function hasStateConstant({ status }: WireObject): boolean {
  return isWireObject(status) && typeof status["state"] === "string" && status["state"].startsWith("TASK_STATE_");
}

/** The oldest form may have the name of a state in place of a status; and a task in it has a second id, as events have. */
function withFullStatus(wire: WireObject): WireObject {
  const { taskId, status, ...rest } = wire;
  const full = typeof status === "string" ? { state: status, timestamp: wire["timestamp"] } : status;
  const isUpdate = ["artifact", "final", "parts"].some((name) => member(wire, name) !== undefined);
  const isWhole = member(wire, "id") !== undefined && !isUpdate;
  return isWhole ? { ...rest, kind: "task", status: full } : { ...rest, taskId, status: full };
}

function placeOf(event: RemoteEvent): Pick<Notification, "taskId" | "state"> {
  switch (event.kind) {
    case "task":
      return { taskId: event.task.id, state: event.task.status.state };
    case "message":
      return event.message.taskId === undefined ? {} : { taskId: event.message.taskId };
    case "status":
    case "artifact": {
      if (event.taskId === "") throw invalidField("taskId", "is required");
      return { taskId: event.taskId, ...(event.kind === "status" && { state: event.status.state }) };
    }
  }
}

/** What the readers of answers call a result is the body here. */
function readBody<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    const violation = thrown instanceof A2AError && thrown.code === "invalid-params" ? thrown.violations[0] : undefined;
    if (violation === undefined) throw thrown;
    const field = violation.field.replace(/^(?:result|event)(?:\.|$)/, "") || "body";
    throw invalidField(field, violation.description);
  }
}
