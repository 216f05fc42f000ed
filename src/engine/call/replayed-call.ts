import type { StandardSchemaV1 } from "@standard-schema/spec";
import { textOf } from "../../protocol/part.ts";
import type { CallOptions, CallResult, CallTarget } from "../agent/call-types.ts";
import type { CallSink } from "./agent-call.ts";
import { CallError } from "./call-error.ts";
import { callResult, plainResult, type StoredEnd, type StoredResult } from "./call-result.ts";
import type { CallingTask } from "./calling-task.ts";

/** The call that has ended in an earlier attempt. */
interface EndedCall {
  readonly target: CallTarget;
  readonly options: CallOptions<StandardSchemaV1 | undefined, StandardSchemaV1 | undefined>;
}

/** The stored end of a call: its events in few pieces, then its result. Rejects with the stored error. */
export async function replayedCall(
  task: CallingTask,
  { target, options }: EndedCall,
  { stored, sink }: { readonly stored: StoredEnd; readonly sink: CallSink },
): Promise<CallResult> {
  const result = stored.result === undefined ? undefined : await withArtifacts(task, target, stored.result);
  if (result !== undefined) await showEvents(result, sink);
  if (stored.error !== undefined) {
    const { code, message } = stored.error;
    throw new CallError(message, { code, result: result && plainResult(result) });
  }
  if (result === undefined) throw new CallError("The call has no result.", { code: "call-failed" });
  return callResult(result, options.output);
}

async function showEvents(result: StoredResult, sink: CallSink): Promise<void> {
  const { taskId, contextId, artifacts } = result;
  sink.accepted({ taskId, contextId });
  if (taskId === undefined) return;
  for (const artifact of artifacts)
    await sink.event({
      kind: "artifact",
      artifact,
      append: false,
      lastChunk: true,
      taskId,
      text: textOf(artifact.parts),
    });
  const { state } = result;
  await sink.event({ kind: "status", status: { state }, taskId, state, text: textOf(result.message ?? []) });
}

/** Large artifacts stay with the called task and are read from it again. */
async function withArtifacts(task: CallingTask, target: CallTarget, result: StoredResult): Promise<StoredResult> {
  if (result.isLarge !== true || result.taskId === undefined) return result;
  const callee = await task.callees.find(target, task.origin);
  const { artifacts = [] } = await callee.result(result.taskId, task.signal);
  return { ...result, artifacts };
}
