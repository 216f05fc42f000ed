import type { StepContext, StepOptions, TaskContext } from "../../engine/agent/agent.ts";

/** A call of something outside, such as a tool, as one step. */
export interface OutsideCall<T extends object> {
  /** Unique among the calls of the turn. The same in every attempt. */
  readonly key: string;
  /** The name of the step. */
  readonly name: string;
  /** The call may be made again if the process died while it was made. */
  readonly repeatable: boolean;
  /** The result of a call that was cut off and is not made again; or it throws. */
  readonly cutOff: () => T;
  /** Makes the call. Its result must be plain JSON. */
  readonly work: (step: StepContext) => Promise<T>;
  readonly options: StepOptions<T>;
}

/**
 * Makes a call as one step. Unless it is repeatable, its start is stored first, so that the next attempt knows that the call may have had its effect, and does
 * not make it again.
 */
export async function callOnce<T extends object>(task: TaskContext, call: OutsideCall<T>): Promise<T> {
  const { key, name, repeatable, cutOff, work, options } = call;
  const started = repeatable ? undefined : await task.step(`start ${key}`, ({ attempt }) => attempt);
  const run = async (step: StepContext): Promise<T> =>
    started !== undefined && step.attempt > started ? cutOff() : work(step);
  // Safe cast: `work` returns plain JSON, which `step` checks again.
  return task.step<T>(name, run as (step: StepContext) => never, options);
}
