import { textOf } from "../../protocol/part.ts";
import { isRecord } from "./declared-value.ts";
import { toMessageParts } from "./output.ts";
import type { ArtifactChunk, StatusUpdate } from "./output-types.ts";
import { Rejection } from "./rejection.ts";
import type { TaskContext } from "./task-context.ts";
import { TaskFailure } from "./task-failure.ts";

/** The event that an Observable has emitted; `undefined` if the value is output. */
export function runEventOf(value: unknown): StatusUpdate | ArtifactChunk | undefined {
  if (!isRecord(value)) return undefined;
  // Safe casts: the members that are used without a further check are checked here.
  if (value["type"] === "status-update" && typeof value["state"] === "string") return value as unknown as StatusUpdate;
  if (value["type"] === "artifact-chunk" && typeof value["artifactId"] === "string" && value["chunk"] !== undefined)
    return value as unknown as ArtifactChunk;
  return undefined;
}

/** Writes an event. `end`: the run has completed. Throws if the run ends in another way. */
export async function applyRunEvent(
  event: StatusUpdate | ArtifactChunk,
  task: Pick<TaskContext, "artifact" | "status">,
): Promise<"end" | undefined> {
  if (event.type === "status-update") return applyStatus(event, task);
  const { artifactId, chunk, append, lastChunk } = event;
  const artifact = task.artifact(artifactId);
  if (append === true) await (lastChunk === true ? artifact.end(chunk) : artifact.write(chunk));
  else {
    await artifact.replace(chunk);
    if (lastChunk === true) await artifact.end();
  }
  return undefined;
}

const WORKING: readonly string[] = ["submitted", "started", "working"];

async function applyStatus(
  { state, final, message }: StatusUpdate,
  task: Pick<TaskContext, "status">,
): Promise<"end" | undefined> {
  const parts = message === undefined ? undefined : toMessageParts(message);
  if (state === "failed" || state === "canceled")
    throw new TaskFailure(parts === undefined ? `The agent ended the task as ${state}.` : textOf(parts));
  if (state === "rejected") throw new Rejection(parts === undefined ? "The agent rejected the task." : textOf(parts));
  if (state !== "completed" && !WORKING.includes(state))
    throw new Error(
      `An Observable emitted a status-update with the state ${JSON.stringify(state)}. It may emit working, completed, failed and rejected; call task.ask() or task.requireAuth() for input.`,
    );
  // The task is working already, so a state without a message changes nothing.
  if (parts !== undefined) await task.status(parts);
  return state === "completed" || final === true ? "end" : undefined;
}
