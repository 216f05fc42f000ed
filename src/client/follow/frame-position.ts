import type { Frame } from "../http/channel.ts";

/** Where a new connection should continue, and whose stream it is. */
export interface StreamStart {
  /** The event id that the server was asked to resume after. */
  readonly cursor?: string | undefined;
  /** Earlier connections brought events of this task. */
  readonly isResumed?: boolean;
  /** Set for the stream of a sent message: whether the message continues a task. */
  readonly isReply?: boolean;
  /** The id of the last event before the message was sent. */
  readonly since?: string | undefined;
}

/** Whether a frame only confirms that the stream continues exactly after the cursor. */
export function confirmsCursor({ id, event }: Frame, cursor: string | undefined): boolean {
  if (cursor === undefined || id !== cursor) return false;
  if (event.kind === "task") return (event.task.artifacts ?? []).length === 0;
  return event.kind === "status";
}

/** Whether a frame is the task after several events that were not received. Only a subscription can replay them. */
export function skipsEvents({ id, event }: Frame, since: string | undefined): boolean {
  if (since === undefined || id === undefined || event.kind !== "task") return false;
  return id !== since && !(isNumber(since) && id === String(Number(since) + 1));
}

/** Palaver's servers number events with consecutive integers; ids of other servers need not be numbers. */
function isNumber(id: string): boolean {
  return /^\d{1,15}$/.test(id);
}
