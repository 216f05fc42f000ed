import { A2AError, invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { PUSH_EVENT_KINDS, type PushEventKind } from "../../protocol/operation.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { RemoteEvent } from "../client/client-codec.ts";
import { asObject, isWireObject, member, type WireObject } from "../fields/fields.ts";
import { decodeRemoteEvent as decodeEvent0_1 } from "../v0_1/event.ts";
import { decodeRemoteEvent as decodeEvent0_3 } from "../v0_3/event.ts";
import { decodeRemoteEvent as decodeEvent1_1 } from "../v1_1/event.ts";

/** A decoded notification, of any version. */
export interface Notification {
  /** Absent only for a message that belongs to no task. */
  readonly taskId?: TaskId;
  /** The state of the task; absent for artifact updates and messages. */
  readonly state?: TaskState;
  /** The kind of event that caused a notification with the whole task, if the sender says so. */
  readonly about?: PushEventKind;
  /** The complete content of the notification. */
  readonly event: RemoteEvent;
}

/**
 * Decodes the parsed body of a notification: an event (1.0), a task (0.2, 0.3), or the format of 0.1, which may have only the name of a
 * state. Throws an `A2AError` of code `invalid-params` that names the invalid field.
 */
export function readNotification(body: unknown): Notification {
  return readBody(() => {
    const wire = unwrapped(asObject(body, "body"));
    const event = decodeEvent(wire);
    const about = PUSH_EVENT_KINDS.find((kind) => kind === wire["eventType"]);
    return { ...placeOf(event), ...(about !== undefined && { about }), event };
  });
}

/** Some servers wrap notifications in a JSON-RPC response. */
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

/** By `kind` (0.2, 0.3), by the names of states, else by the wrapper member (1.0). */
function decodeEvent(wire: WireObject): RemoteEvent {
  if (typeof wire["kind"] === "string") return decodeEvent0_3(wire);
  if (isBare(wire)) return hasStateConstant(wire) ? decodeEvent1_1(wire) : decodeEvent0_1(withFullStatus(wire));
  const [payload, another] = WRAPPERS.map(([name, alias]) => member(wire, name, alias)).filter(isWireObject);
  // With two of them, a receiver could check one and use the other.
  if (another !== undefined) throw invalidField("body", `must have only one of ${NAMES}`);
  if (payload === undefined) throw invalidField("body", `must be a task, or have one of ${NAMES}`);
  return typeof payload["kind"] === "string" ? decodeEvent0_3(wire) : decodeEvent1_1(wire);
}

/** A task, event or message that is not wrapped in a member such as `task` or `statusUpdate`. */
function isBare(wire: WireObject): boolean {
  return ["status", "artifact", "parts"].some((name) => member(wire, name) !== undefined);
}

/** Only 1.0 and the proto style of 0.3 have states such as `TASK_STATE_WORKING`. */
function hasStateConstant({ status }: WireObject): boolean {
  return isWireObject(status) && typeof status["state"] === "string" && status["state"].startsWith("TASK_STATE_");
}

/** In 0.1, `status` may be only the name of a state, and a task may have `taskId` besides `id`. */
function withFullStatus(wire: WireObject): WireObject {
  const { taskId, status, ...rest } = wire;
  const full = typeof status === "string" ? { state: status, timestamp: wire["timestamp"] } : status;
  const isUpdate = ["artifact", "final", "parts"].some((name) => member(wire, name) !== undefined);
  const isWhole = member(wire, "id") !== undefined && !isUpdate;
  return isWhole ? { ...rest, kind: "task", status: full } : { ...rest, taskId, status: full };
}

/** A task id is required except for messages: without it a receiver could not check that it expects the task (A2A 1.0 §13.2). */
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

/** Renames `result` and `event` in error fields to `body`. */
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
