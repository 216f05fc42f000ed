import { LARGE_BYTES } from "../../engine/read/large-members.ts";
import { A2AError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { SubscribeRequest } from "../../protocol/operation.ts";
import type { Scope } from "../../protocol/principal.ts";
import { type Call, cursorOf, scopeOf } from "../call.ts";
import { streamingNotSupported, taskNotFound } from "../refusals.ts";
import type { Service } from "../service.ts";
import { subscriptionStream, type TaskStream } from "../task-stream.ts";

/** Streams the task and its later events until it is finished; with a `Last-Event-ID`, exactly the events after that one (A2A 1.0 §3.1.6). */
export async function subscribeToTask(service: Service, call: Call, request: SubscribeRequest): Promise<TaskStream> {
  if (service.card.capabilities.streaming !== true) throw streamingNotSupported();
  return resumedStream(service, call, {
    scope: scopeOf(call, service.agent.id, request.tenant),
    taskId: request.id,
    cursor: cursorOf(call),
    closeOnInputRequired: false,
  });
}

export interface ResumeOptions {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly cursor: number | undefined;
  /** The resumed stream belongs to a send, and so ends when the task waits for input. */
  readonly closeOnInputRequired: boolean;
}

/** The stream of an existing task, from a cursor or from now. */
export async function resumedStream(service: Service, call: Call, options: ResumeOptions): Promise<TaskStream> {
  const { scope, taskId, cursor, closeOnInputRequired } = options;
  const subscription = await service.engine.subscribe(scope, taskId, {
    largeBytes: LARGE_BYTES,
    ...(cursor !== undefined && { after: cursor }),
  });
  if (subscription === undefined) throw taskNotFound(taskId);
  // After lost events the caller gets the whole task, even if it is finished.
  if (subscription.ended && !subscription.resync && call.policy.terminalSubscribe === "error") {
    subscription.close();
    throw new A2AError("unsupported-operation", "The task is finished and cannot be subscribed to", {
      metadata: { taskId },
    });
  }
  const answered = closeOnInputRequired && subscription.opening.state === "input-required";
  const stream = subscriptionStream(subscription, { closeOnInputRequired, complete: subscription.ended || answered });
  const { artifacts, dialect } = subscription.opening;
  if (artifacts !== undefined || call.policy.numbersArtifacts?.(dialect) !== true) return stream;
  return { ...stream, artifacts: await artifactsSoFar(service, options, stream) };
}

/** The task's artifacts now. Their order never changes, so they number the events after the cursor correctly. */
async function artifactsSoFar(
  { engine }: Service,
  { scope, taskId }: ResumeOptions,
  stream: TaskStream,
): Promise<string | undefined> {
  try {
    const task = await engine.snapshot(scope, taskId, { artifacts: true, history: 0, largeBytes: LARGE_BYTES });
    return task?.large?.artifacts === undefined ? task?.artifacts : bareArtifacts(task.large.artifacts.ids);
  } catch (thrown) {
    stream.events?.close();
    throw thrown;
  }
}

/** Artifacts with their ids only. */
function bareArtifacts(ids: readonly string[]): string {
  return JSON.stringify(ids.map((artifactId) => ({ artifactId, parts: [] })));
}
