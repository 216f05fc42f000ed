import type { JsonValue } from "../../protocol/json.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { StepContext, StepOptions } from "../agent/agent.ts";
import { storableCopy } from "../agent/output.ts";
import { TaskFailure } from "../agent/task-failure.ts";
import type { CallHost } from "./context-host.ts";

/** A step as the author declares it. */
interface DeclaredStep<T> extends Partial<StepOptions<T>> {
  readonly work: (step: StepContext) => T | Promise<T>;
}

/**
 * Runs a step and stores its result. If an earlier attempt has stored the result, the step does not run. Throws a `TaskFailure`
 * (`step-not-json`, `step-too-large`, `too-many-steps`) if the result cannot be stored.
 */
export async function runStep<T>(host: CallHost, name: string, { work, call, describe }: DeclaredStep<T>): Promise<T> {
  const { emitter, memory, writer, run } = host;
  const key = memory.key("step", name);
  const known = memory.recall(key);
  if (known?.kind === "done") {
    await emitter.reachStep(key);
    // Safe: the same step returned this value in an earlier attempt.
    return known.value as T;
  }
  const waits = run.waits();
  if (!writer.isStored) await writer.flush();
  // A process that was suspended may have lost the task: another one may have done the step, and its result would be refused.
  const fresh = run.lease.whenFresh();
  if (fresh !== undefined) {
    await fresh;
    host.requireOpen();
  }
  waits.busy++;
  const step = run.observer.stepBegan(name, key, call);
  try {
    const { turnInbox, attempt } = writer.runner;
    // The message identifies the turn. The seq does not: two turns have the same one if nothing was written in between.
    const stableKey = `${publicTaskId(writer.ref.id)}/${turnInbox ?? 0}/${key}`;
    const value = await emitter.runInStep(key, () =>
      work({ key: stableKey, attempt, signal: run.signal, trace: step.trace }),
    );
    const copy = jsonCopy(name, value);
    const result = describe?.(value);
    host.requireOpen();
    memory.remember(key, copy === undefined ? { kind: "done" } : { kind: "done", value: copy });
    step.ended({ result });
    await writer.flush();
    // Safe: the copy is what JSON keeps of the value, as the documentation of `step` says.
    return copy as T;
  } catch (error) {
    step.ended({ error });
    throw error;
  } finally {
    waits.busy--;
  }
}

function jsonCopy(name: string, value: unknown): JsonValue | undefined {
  try {
    return storableCopy(value);
  } catch (cause) {
    const reason = cause instanceof Error ? ` ${cause.message.replace(/^Output/, "The value")}` : "";
    throw new TaskFailure(`Step ${JSON.stringify(name)} returned a value that is not JSON.${reason}`, {
      code: "step-not-json",
      cause,
    });
  }
}
