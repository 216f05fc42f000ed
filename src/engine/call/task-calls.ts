import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type CallPath, callPathEntry } from "../../protocol/call-path.ts";
import { type Ancestry, type Budget, CALLS, lowerBudget } from "../../protocol/calls/ancestry.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { TaskAborted } from "../agent/agent.ts";
import type { AgentCall, CallOptions, CallTarget } from "../agent/call-types.ts";
import { toParts } from "../agent/output.ts";
import type { Output } from "../agent/output-types.ts";
import { RunningCall } from "./agent-call.ts";
import type { CallingTask } from "./calling-task.ts";
import { type CallsHost, storedValue } from "./calls-host.ts";
import type { CallEnvironment, ChildTasks } from "./child-tasks.ts";
import { runCall } from "./run-call.ts";

/** What the calls of one attempt use. */
export interface TaskCallsOptions {
  readonly host: CallsHost;
  readonly environment: CallEnvironment;
  readonly children: ChildTasks;
  readonly contextId: string;
  /** The agents that led to this task, its own last. */
  readonly callPath: CallPath;
  /** Sets the status message of this task. */
  readonly status: CallingTask["status"];
  /** Asks the caller of this task. */
  readonly forward: CallingTask["forward"];
}

type Options = CallOptions<StandardSchemaV1 | undefined, StandardSchemaV1 | undefined>;

/** Outcomes after which an agent is perhaps not called for a while. */
const FAILURES: readonly string[] = ["call-failed", "call-unavailable", "call-timeout"];

/** The calls of one attempt. */
export class TaskCalls {
  readonly #options: TaskCallsOptions;
  readonly #called = new Set<string>();
  #made = 0;
  #open = 0;

  constructor(options: TaskCallsOptions) {
    this.#options = options;
    const { host, children } = options;
    const { signal } = host.run;
    const stop = (): void => {
      // A canceled task takes its called tasks with it at once. After any other abort, a later attempt continues them.
      const reason: unknown = signal.reason;
      const isGivenUp = reason instanceof TaskAborted && (reason.reason === "canceled" || reason.reason === "timeout");
      if (isGivenUp)
        children.abandonAll().catch((error: unknown) => this.#log("Called tasks could not be canceled", error));
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  }

  /** Makes a call. Its place in the order of calls is decided now. */
  call(target: CallTarget, message: Output, options: Options): AgentCall {
    const { host, environment, callPath } = this.#options;
    const { memory, run } = host;
    const label = environment.callees.label(target);
    const key = memory.key("call", options.name ?? label);
    const canceled = new AbortController();
    const isHosted = typeof target === "string" ? !URL.canParse(target) : "id" in target;
    // The last entry of the path is this agent's own.
    const server = callPath.at(-1)?.split("/")[0] ?? run.serverId;
    const call = {
      key,
      target,
      label,
      entry: isHosted ? callPathEntry(server, label) : undefined,
      parts: toParts(message),
      options,
      canceled: canceled.signal,
    };
    const waits = run.waits();
    waits.busy++;
    const before = { made: this.#made++, open: this.#open++ };
    const running = new RunningCall(
      (sink) =>
        runCall(this.#task(before), call, sink).finally(() => {
          waits.busy--;
          this.#open--;
        }),
      async () => {
        canceled.abort(new TaskAborted("canceled", "The agent canceled the call."));
        await running.catch(() => undefined);
      },
    );
    running.catch((error: unknown) => this.#log("A call of another agent failed", error));
    return running;
  }

  /** The request metadata of a message that the agent's code sends with a client of its own. */
  async metadataFor(messageId: string): Promise<JsonObject> {
    const { host, environment, children } = this.#options;
    const { deadline, left, limits } = children;
    environment.guard.admitRelayed({ depth: this.#depth, deadline, left, now: host.run.now() }, limits);
    return { [CALLS]: { ancestry: await environment.callees.sign(this.#ancestry(undefined), messageId) } };
  }

  /** The run has returned: what it has not awaited is canceled, unless it is detached. */
  async end(): Promise<void> {
    const { host, children } = this.#options;
    if (host.run.closed() !== undefined) return;
    await children.abandonAll();
  }

  /** `before`: the calls of this attempt that were made and open when the call was made. */
  #task(before: { readonly made: number; readonly open: number }): CallingTask {
    const { host, environment, children, contextId, callPath, status, forward } = this.#options;
    const { run, memory, writer } = host;
    const { agent } = writer.ref.scope;
    return {
      id: children.id,
      contextId,
      attempt: writer.runner.attempt,
      signal: run.signal,
      callees: environment.callees,
      origin: { ...children.origin, trace: run.observer.trace },
      now: () => run.now(),
      timer: (at, work) => run.timer(at, work),
      recall: (key) => storedValue(host, key),
      remember: (key, value) => memory.remember(key, { kind: "done", value }),
      flush: () => writer.flush(),
      requireOpen: () => host.requireOpen(),
      seal: (value) => memory.seal(value),
      unseal: (sealed) => memory.openAnswer(sealed),
      admit: ({ label, entry }) => {
        environment.guard.admit(
          {
            ...{
              agent,
              label,
              entry,
              path: callPath,
              depth: this.#depth,
              deadline: children.deadline,
              left: children.left,
            },
            ...{ ...before, called: this.#called, now: run.now() },
          },
          children.limits,
        );
        this.#called.add(label);
      },
      ancestry: (budget) => this.#ancestry(budget),
      open: (child) => children.open(child),
      close: (key) => children.close(key),
      abandon: (key) => children.abandon(key),
      show: (key, child) => children.show(key, child),
      count: (key, usage) => {
        const counted = `${key}/counted`;
        if (memory.recall(counted) !== undefined || Object.keys(usage).length === 0) return;
        memory.remember(counted, { kind: "done" });
        children.count(usage);
      },
      ended: (label, outcome) => {
        environment.onCall?.(agent, outcome);
        const failed = FAILURES.includes(outcome);
        if (failed || outcome === "completed") environment.guard.ended(agent, label, { failed, at: run.now() });
      },
      status,
      forward,
    };
  }

  #ancestry(budget: Budget | undefined): Ancestry {
    const { children, callPath: path } = this.#options;
    const { root, id: parent, deadline, left } = children;
    const given = lowerBudget(left, budget);
    const isLimited = given !== undefined && (given.tokens !== undefined || given.cost !== undefined);
    return {
      ...{ root, parent, path, depth: this.#depth + 1, verified: true },
      ...(deadline !== undefined && { deadline }),
      ...(isLimited && { budget: given }),
    };
  }

  /** How many calls lead from the root to this task. */
  get #depth(): number {
    const { children, callPath } = this.#options;
    return children.ancestry?.depth ?? callPath.length - 1;
  }

  #log(what: string, error: unknown): void {
    const { host, children } = this.#options;
    host.run.logger.debug(what, { task: children.id, error });
  }
}
