import type { Timer } from "../../internal/clock.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { DueTask } from "../../store/contract.ts";
import type { EngineParts } from "../parts.ts";
import { type ClaimOptions, type ClaimResult, claimTask } from "./claim-task.ts";
import type { CrashStart, Recovery } from "./recovery.ts";

/** Milliseconds until tasks are claimed again that could not be continued. */
const RETRY_MS = 1000;

export interface ClaimerOptions {
  readonly parts: EngineParts;
  readonly recovery: Recovery;
  /** False while the server shuts down: nothing is claimed any more. */
  readonly isOpen: () => boolean;
}

/** How a claimed task is continued: see {@link ClaimOptions}. */
type StartOptions = Pick<ClaimOptions, "crash" | "read">;

/** Claims tasks for this node, each at most once at a time, and retries the tasks whose lease it holds but could not continue. */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #claiming = new Set<TaskId>();
  /** Tasks whose lease this node holds without a run, with how they were to be started if their process crashed. */
  readonly #abandoned = new Map<TaskId, CrashStart | undefined>();
  /** How tasks are claimed again after the claim that is under way, because they were released or claimed in the store meanwhile. */
  readonly #again = new Map<TaskId, ClaimOptions>();
  #retry: Timer | undefined;

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  /** Continues a task that the poll loop has claimed. */
  start({ id, epoch }: Pick<DueTask, "id" | "epoch">, { crash, read }: StartOptions = {}): Promise<ClaimResult> {
    return this.#claim(id, { isOwn: true, epoch, crash, read });
  }

  /** Continues a task whose lease this node may hold without knowing it, because the answer to a claim or a commit was lost. */
  adopt(id: TaskId): Promise<ClaimResult> {
    return this.#claim(id, { isOwn: true, onlyOwn: true });
  }

  /** The task is being claimed, or will be claimed again. */
  has(id: TaskId): boolean {
    return this.#claiming.has(id) || this.#abandoned.has(id);
  }

  /** Claims a task again whose run was released on this node: a message or a cancel request may wait in its inbox. */
  onReleased(id: TaskId): void {
    if (this.#options.recovery.has(id)) {
      void this.#endIfCanceled(id);
      return;
    }
    this.#abandoned.set(id, undefined);
    void this.#claim(id, { isOwn: true });
  }

  stop(): void {
    this.#retry?.cancel();
  }

  /** A message does not start a crashed task that waits for its group. A cancel request that needs no run ends the task immediately. */
  async #endIfCanceled(id: TaskId): Promise<void> {
    const { store, agents, environment } = this.#options.parts;
    try {
      const [record, inbox] = await Promise.all([store.get(id, { artifacts: false, history: 0 }), store.inbox(id)]);
      const agent = record && agents.get(record.scope.agent);
      const isCanceled = inbox.some(({ kind }) => kind === "cancel");
      if (isCanceled && agent !== undefined && agent.onCancel !== "resume")
        await this.#claim(id, { isOwn: true, runs: false });
    } catch (error) {
      environment.logger.warn("The inbox of a task could not be read", { task: id, error });
    }
  }

  async #claim(id: TaskId, options: ClaimOptions): Promise<ClaimResult> {
    const { parts, recovery, isOpen } = this.#options;
    const { runs, environment } = parts;
    if (runs.has(id)) this.#abandoned.delete(id);
    if (!isOpen() || runs.has(id)) return "skipped";
    if (this.#claiming.has(id)) {
      // The claim under way may leave the task to this one: it finds that this node holds the lease already.
      this.#again.set(id, options);
      return "skipped";
    }
    if (options.isOwn === true && !environment.lease.isFresh) {
      // Another node may take the task over at any moment. After the next renewal it is clear which node has it.
      this.#abandoned.set(id, options.crash);
      this.#retryAbandoned();
      return "skipped";
    }
    this.#claiming.add(id);
    try {
      const waits = recovery.hasSolo && options.crash?.alone !== true && options.runs !== false;
      if (waits) await recovery.waitForSolo();
      const result = await claimTask(parts, id, waits ? { ...options, read: undefined } : options);
      this.#abandoned.delete(id);
      return result;
    } catch (error) {
      environment.logger.warn("A task could not be claimed; trying again in 1 s.", { task: id, error });
      // The lease may be claimed already, so no other node retries. Other tasks may run by then, so the task is not alone.
      this.#abandoned.set(id, options.crash && { ...options.crash, alone: false });
      this.#again.delete(id);
      this.#retryAbandoned();
      return "skipped";
    } finally {
      this.#claiming.delete(id);
      this.#claimAgain(id);
    }
  }

  #claimAgain(id: TaskId): void {
    const options = this.#again.get(id);
    if (options === undefined) return;
    this.#again.delete(id);
    void this.#claim(id, options);
  }

  #retryAbandoned(): void {
    if (this.#retry !== undefined || this.#abandoned.size === 0) return;
    const { clock } = this.#options.parts.environment;
    this.#retry = clock.setTimer(
      clock.now() + RETRY_MS,
      () => {
        this.#retry = undefined;
        for (const [id, crash] of this.#abandoned) void this.#claim(id, { isOwn: true, crash });
      },
      { unref: true },
    );
  }
}
