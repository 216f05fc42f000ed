import type { TaskId } from "../../protocol/ids.ts";
import type { ClaimedTask, InboxEntry, StepRecord, Store, TaskRecord } from "../../store/contract.ts";
import type { Agent } from "../agent/agent.ts";
import type { EngineParts } from "../parts.ts";
import { startOf } from "../read/feeds.ts";
import { isIdempotencyEntry } from "../record/idempotency-entry.ts";
import { type RunnerRecord, readRunner } from "../record/runner-record.ts";
import { type LoggedTurn, readLoggedTurn } from "../run/logged-turn.ts";
import type { Run } from "../run/run.ts";
import { countSteps, hasProgressed, prepareReplay } from "../run/turn.ts";
import type { CrashStart } from "./recovery.ts";

const DEFAULT_MAX_ATTEMPTS = 3;
/** A turn fails after this many crashes, even if every start committed something. */
const MAX_CRASHES = 100;

type ClaimParts = Pick<EngineParts, "agents" | "node" | "store" | "committer" | "feeds" | "runs" | "environment">;

export interface ClaimOptions {
  /** This process holds the lease without a run: claim the lease although its node is alive. */
  readonly isOwn: boolean;
  /** Skip the task unless this process holds its lease. */
  readonly onlyOwn?: boolean;
  /** The epoch of the lease, if this process has claimed the task already. */
  readonly epoch?: number | undefined;
  /** Present if the task was running when another process died. Losing the lease or the store is not a crash. */
  readonly crash?: CrashStart | undefined;
  /** False: the task was canceled; end it without starting its run. */
  readonly runs?: boolean;
  /** What the store has of the task, if it was read after the claim. */
  readonly read?: ClaimedTask | undefined;
}

/** `skipped`: the task has ended or was deleted, another node holds it, or this process does not serve its agent. */
export type ClaimResult = "claimed" | "skipped";

/**
 * Claims the lease of a task that has no run, and continues it: its process died, its wake time has come, or its inbox is not empty. If the
 * store fails, rejects and leaves the task without a run.
 */
export async function claimTask(options: ClaimParts, id: TaskId, how: ClaimOptions): Promise<ClaimResult> {
  const { agents, node, store } = options;
  const epoch = how.epoch ?? (await claimLease(options, id, how));
  if (epoch === undefined) return "skipped";
  const read = how.read;
  const record = read?.record ?? (await store.get(id, { artifacts: false }));
  const agent = record && agents.get(record.scope.agent);
  if (record === undefined || agent === undefined || record.node !== node || record.epoch !== epoch) return "skipped";
  const stored = await readStored(store, agent, { ...read, record });
  await continueRun(options, { run: openRun(options, { agent, epoch, stored }), stored, crash: how.crash });
  return "claimed";
}

/** The epoch of the new lease; `undefined`: the task cannot be claimed. */
async function claimLease(
  { agents, node, store, committer }: ClaimParts,
  id: TaskId,
  { isOwn, onlyOwn = false }: ClaimOptions,
): Promise<number | undefined> {
  const record = await store.get(id, { artifacts: false, history: 0 });
  if (record === undefined || !agents.has(record.scope.agent)) return undefined;
  if (onlyOwn && record.node !== node) return undefined;
  // Force the claim only if this node still holds the lease: another node may have claimed it since.
  const claim = await committer.submit({ kind: "claim", task: id, node, force: isOwn && record.node === node });
  if (claim.status === "ok") return claim.epoch;
  if (claim.status !== "held" || claim.node !== node || isOwn) return undefined;
  // The poll loop has claimed the task meanwhile, and leaves it to this call.
  const forced = await committer.submit({ kind: "claim", task: id, node, force: true });
  return forced.status === "ok" ? forced.epoch : undefined;
}

/** What the store has of a task whose lease this process holds: nobody else can change it. */
interface StoredRun {
  readonly record: TaskRecord;
  /** The task was running when its process stopped. */
  readonly wasRunning: boolean;
  /** The results of the turn are forgotten, and everything is done again (`onRestart: "retry"`). */
  readonly forgets: boolean;
  readonly steps: readonly StepRecord[];
  readonly logged: LoggedTurn;
  /** Absent: it was not read yet. */
  readonly inbox: readonly InboxEntry[] | undefined;
}

/** What was read of a task: at least its record. */
type ReadTask = Pick<ClaimedTask, "record"> & Partial<ClaimedTask>;

async function readStored(store: Store, { onRestart }: Agent, read: ReadTask): Promise<StoredRun> {
  const { record, inbox, entries } = read;
  const wasRunning = record.head.active && readRunner(record.head.runner).released !== true;
  const forgets = wasRunning && onRestart === "retry";
  const steps = read.steps ?? (await store.steps(record.id));
  const logged = await readLoggedTurn(store, { record, entries }, forgets ? [] : steps);
  return { record, wasRunning, forgets, steps, logged, inbox };
}

interface OpenedRun {
  readonly agent: Agent;
  readonly epoch: number;
  readonly stored: StoredRun;
}

function openRun({ feeds, runs }: ClaimParts, { agent, epoch, stored }: OpenedRun): Run {
  const { record, logged } = stored;
  const { id } = record;
  const taken = consumedIdempotent(record);
  const feed = feeds.of(record);
  // Subscribers see the stored events before new ones.
  if (feed.seq < record.seq) feed.advanceTo(record.seq, startOf(record));
  return runs.open(agent, feed, {
    ref: { id, contextId: record.contextId, scope: record.scope, dialect: record.dialect },
    epoch,
    seq: record.seq,
    head: record.head,
    runner: readRunner(record.head.runner),
    knownArtifacts: logged.knownArtifacts,
    historyLength: record.history.length,
    ...(taken !== undefined && { taken }),
  });
}

/** Consumed idempotent messages, each with the seq it follows. Another node may post one again before it sees that it was consumed. */
function consumedIdempotent({ history, head }: TaskRecord): Map<string, number> | undefined {
  const inHistory = history.flatMap(({ inbox, after }) =>
    inbox !== undefined && isIdempotencyEntry(inbox) ? [[inbox, after] as const] : [],
  );
  const sealed = readRunner(head.runner).consumedSealed?.map((inbox) => [inbox, 0] as const) ?? [];
  return inHistory.length + sealed.length === 0 ? undefined : new Map([...inHistory, ...sealed]);
}

interface OpenedTask {
  readonly run: Run;
  readonly stored: StoredRun;
  readonly crash: CrashStart | undefined;
}

async function continueRun(options: ClaimParts, taken: OpenedTask): Promise<void> {
  const { run, stored } = taken;
  try {
    for (const entry of stored.inbox ?? (await options.store.inbox(stored.record.id))) run.writer.deliver(entry);
    await decide(options, taken);
  } catch (error) {
    // A writer without a run must not keep the task.
    run.writer.lose({ kind: "lease-lost" });
    throw error;
  }
}

async function decide(options: ClaimParts, { run, stored, crash }: OpenedTask): Promise<void> {
  const { runs, environment } = options;
  const { writer, agent } = run;
  const { record, wasRunning, forgets, logged } = stored;
  const policy = agent.onRestart ?? "resume";
  const canceled = writer.inbox.some((entry) => entry.kind === "cancel");
  const fail = (text: string): Promise<void> =>
    canceled ? runs.end(run, "canceled") : runs.end(run, "failed", [{ text }]);
  if (canceled && (!run.runsAfterCancel || (wasRunning && policy !== "resume"))) return runs.end(run, "canceled");
  const { limitAt = Number.POSITIVE_INFINITY } = writer.runner;
  if (!canceled && limitAt <= environment.clock.now()) return fail("Task timed out");
  if (wasRunning && policy === "fail") return fail("The server stopped while this task was at work.");
  const counts = countCrash(writer.runner, {
    crash: wasRunning ? crash : undefined,
    progressed: hasProgressed(record, stored.steps),
  });
  const exhausted = whyExhausted(counts, agent.maxAttempts ?? DEFAULT_MAX_ATTEMPTS);
  if (exhausted !== undefined) return fail(exhausted);
  const steps = forgets ? [] : stored.steps;
  const start = await prepareReplay({ agent, writer, record, logged, sealer: environment.sealer, steps });
  if (start === undefined) return fail("The message that started this turn is no longer stored.");
  if (forgets) writer.forgetSteps();
  writer.updateHead({
    runner: {
      ...counts,
      attempt: writer.runner.attempt + 1,
      released: undefined,
      // A task that never started is moved to `working` first; that event is not progress.
      startSeq: writer.state === "submitted" ? writer.seq + 1 : writer.seq,
      startSteps: countSteps(steps),
      ...(forgets && { questions: undefined }),
      ...unpaused(writer.runner, environment.clock.now()),
    },
    active: true,
    wakeAt: undefined,
  });
  // Store the attempt before the run starts, so that a run that crashes the process is counted.
  await writer.flush();
  runs.begin(run, start);
}

type CrashCounts = Pick<RunnerRecord, "tries" | "crashes" | "idleCrashes" | "round" | "alone">;

/**
 * The crash counters after this start. A crash counts as a failed try only if the task committed nothing new since its last start and was the
 * only running task: known from its record if that start followed a crash, otherwise from the tasks that were found on the same node.
 */
function countCrash(
  runner: RunnerRecord,
  { crash, progressed }: { readonly crash: CrashStart | undefined; readonly progressed: boolean },
): CrashCounts {
  const tries = progressed ? 1 : runner.tries;
  const idleCrashes = progressed ? undefined : runner.idleCrashes;
  if (crash === undefined)
    return {
      tries,
      crashes: runner.crashes,
      idleCrashes,
      round: undefined,
      alone: idleCrashes === undefined ? undefined : false,
    };
  const isFailedTry = !progressed && (runner.alone ?? crash.wasOnly);
  return {
    tries: isFailedTry ? tries + 1 : tries,
    crashes: (runner.crashes ?? 0) + 1,
    idleCrashes: progressed ? undefined : (idleCrashes ?? 0) + 1,
    round: crash.round,
    alone: crash.alone,
  };
}

function whyExhausted({ tries, crashes = 0 }: CrashCounts, maxAttempts: number): string | undefined {
  if (tries > maxAttempts)
    return `attempts-exhausted: the task's run crashed ${timesOf(maxAttempts)} without progress.`;
  if (crashes >= MAX_CRASHES)
    return `attempts-exhausted: the server stopped ${MAX_CRASHES} times while this task was at work.`;
  return undefined;
}

function timesOf(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** Ends a pause: the time spent waiting is added to the deadline. */
function unpaused({ pausedAt, deadline }: RunnerRecord, now: number): Partial<RunnerRecord> {
  if (pausedAt === undefined) return {};
  return { pausedAt: undefined, ...(deadline !== undefined && { deadline: deadline + Math.max(0, now - pausedAt) }) };
}
