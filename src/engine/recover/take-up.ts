import type { TaskId } from "../../protocol/ids.ts";
import type { Store, TaskRecord } from "../../store/contract.ts";
import type { Agent } from "../agent/agent.ts";
import type { Committer } from "../log/committer.ts";
import { type Feeds, startOf } from "../read/feeds.ts";
import { isOnceEntry } from "../record/once-entry.ts";
import { type RunnerRecord, readRunner } from "../record/runner-record.ts";
import type { Run, RunEnvironment } from "../run/run.ts";
import type { Runs } from "../run/runs.ts";
import { countSteps, hasProgressed, loggedArtifacts, prepareReplay } from "../run/turn.ts";
import type { CrashStart } from "./recovery.ts";

const DEFAULT_MAX_ATTEMPTS = 3;
/** Starts of one turn that may end in a crash, whatever they commit. */
const MAX_CRASHES = 100;

export interface TakeUpOptions {
  readonly agents: ReadonlyMap<string, Agent>;
  readonly node: string;
  readonly store: Store;
  readonly committer: Committer;
  readonly feeds: Feeds;
  readonly runs: Runs;
  readonly environment: RunEnvironment;
}

export interface TakeUpHow {
  /** This process holds the lease and dropped the run: the lease is claimed although its node lives. */
  readonly isOwn: boolean;
  /** Present if the task was at work when another process died. Losing the lease or the store is no crash. */
  readonly crash?: CrashStart | undefined;
  /** False: the task was canceled and is only ended. */
  readonly runs?: boolean;
}

/** `foreign`: its agent is not served here, ever. `left`: not now; it is gone, or somebody else's. */
export type TakenUp = "taken" | "left" | "foreign";

/**
 * Goes on with a task nobody is at work on: its process died, its time to wake has come, or there is something in its inbox.
 * Rejects, the task being nobody's again, if the store fails.
 */
export async function takeUp(options: TakeUpOptions, id: TaskId, how: TakeUpHow): Promise<TakenUp> {
  const { agents, node, store, committer } = options;
  const found = how.crash !== undefined && !how.isOwn ? how.crash : await find(store, id);
  if (found === undefined) return "left";
  const agent = agents.get(found.agent);
  if (agent === undefined) return "foreign";
  // What another node has taken over since is that node's.
  const force = how.isOwn && "node" in found && found.node === node;
  const claim = await committer.submit({ kind: "claim", task: id, node, force });
  if (claim.status !== "ok" || claim.epoch === undefined) return "left";
  const record = await store.get(id, { artifacts: false });
  if (record === undefined) return "left";
  await goOn(options, { run: await openRun(options, { agent, record, epoch: claim.epoch }), record, crash: how.crash });
  return "taken";
}

async function find(store: Store, id: TaskId): Promise<{ readonly agent: string; readonly node?: string } | undefined> {
  const record = await store.get(id, { artifacts: false, history: 0 });
  return record && { agent: record.scope.agent, ...(record.node !== undefined && { node: record.node }) };
}

async function openRun(
  { store, feeds, runs }: TakeUpOptions,
  { agent, record, epoch }: { readonly agent: Agent; readonly record: TaskRecord; readonly epoch: number },
): Promise<Run> {
  const { id } = record;
  const knownArtifacts = await loggedArtifacts(store, record);
  const taken = takenOnce(record);
  const feed = feeds.of(record);
  // Whoever followed the task meanwhile sees what the store holds before anything new.
  if (feed.seq < record.seq) feed.advanceTo(record.seq, startOf(record));
  return runs.open(agent, feed, {
    ref: { id, contextId: record.contextId, scope: record.scope, dialect: record.dialect },
    epoch,
    seq: record.seq,
    head: record.head,
    runner: readRunner(record.head.runner),
    knownArtifacts,
    historyLength: record.history.length,
    ...(taken !== undefined && { taken }),
  });
}

/** What others may leave in the inbox once more, not knowing that it was taken. */
function takenOnce({ history, head }: TaskRecord): Map<string, number> | undefined {
  const kept = history.flatMap(({ inbox, after }) =>
    inbox !== undefined && isOnceEntry(inbox) ? [[inbox, after] as const] : [],
  );
  const unkept = readRunner(head.runner).unkept?.map((inbox) => [inbox, 0] as const) ?? [];
  return kept.length + unkept.length === 0 ? undefined : new Map([...kept, ...unkept]);
}

interface TakenTask {
  readonly run: Run;
  readonly record: TaskRecord;
  readonly crash: CrashStart | undefined;
}

async function goOn(options: TakeUpOptions, taken: TakenTask): Promise<void> {
  const { run, record } = taken;
  try {
    for (const entry of await options.store.inbox(record.id)) run.writer.deliver(entry);
    await decide(options, taken);
  } catch (error) {
    // Nobody may be left as its writer who is not at work on it.
    run.writer.lose({ kind: "lease-lost" });
    throw error;
  }
}

async function decide(options: TakeUpOptions, { run, record, crash }: TakenTask): Promise<void> {
  const { store, runs, environment } = options;
  const { writer, agent } = run;
  const stopped = record.head.active && writer.runner.released !== true;
  const policy = agent.onRestart ?? "resume";
  const canceled = writer.inbox.some((entry) => entry.kind === "cancel");
  const fail = (text: string): Promise<void> =>
    canceled ? runs.end(run, "canceled") : runs.end(run, "failed", [{ text }]);
  if (canceled && (!run.runsAfterCancel || (stopped && policy !== "resume"))) return runs.end(run, "canceled");
  const { limitAt = Number.POSITIVE_INFINITY } = writer.runner;
  if (!canceled && limitAt <= environment.clock.now()) return fail("Task timed out");
  if (stopped && policy === "fail") return fail("The server stopped while this task was at work.");
  const kept = await store.steps(record.id);
  const counts = countCrash(writer.runner, {
    crash: stopped ? crash : undefined,
    progressed: hasProgressed(record, kept),
  });
  const exhausted = whyExhausted(counts, agent.maxAttempts ?? DEFAULT_MAX_ATTEMPTS);
  if (exhausted !== undefined) return fail(exhausted);
  const forgets = stopped && policy === "retry";
  const steps = forgets ? [] : kept;
  const beginning = await prepareReplay({ agent, writer, record, store, sealer: environment.sealer, steps });
  if (beginning === undefined) return fail("The message this task was at work on is no longer kept.");
  if (forgets) writer.forgetSteps();
  writer.updateHead({
    runner: {
      ...counts,
      attempt: writer.runner.attempt + 1,
      released: undefined,
      // The engine moves a task that never began to `working`: that is nothing new.
      startSeq: writer.state === "submitted" ? writer.seq + 1 : writer.seq,
      startSteps: countSteps(steps),
      ...(forgets && { questions: undefined }),
      ...unpaused(writer.runner, environment.clock.now()),
    },
    active: true,
    wakeAt: undefined,
  });
  // The attempt is counted in a commit before it begins: a run that brings the process down is found out.
  await writer.flush();
  runs.begin(run, beginning);
}

type CrashCounts = Pick<RunnerRecord, "tries" | "crashes" | "idleCrashes" | "round" | "alone">;

/**
 * Counts a crash, if there was one. It counts as a failed try only where nothing new was committed since the last start and the task was
 * alone: known from its record if it was started after a crash, otherwise if nothing else was found at work on the same node.
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
  if (tries > maxAttempts) return `attempts-exhausted: the task's run came to a bad end ${timesOf(maxAttempts)}.`;
  if (crashes >= MAX_CRASHES)
    return `attempts-exhausted: the server stopped ${MAX_CRASHES} times while this task was at work.`;
  return undefined;
}

function timesOf(count: number): string {
  if (count === 1) return "once";
  return count === DEFAULT_MAX_ATTEMPTS ? "three times" : `${count} times`;
}

/** Whatever it waited for, it is at work now; the time it waited does not count. */
function unpaused({ pausedAt, deadline }: RunnerRecord, now: number): Partial<RunnerRecord> {
  if (pausedAt === undefined) return {};
  return { pausedAt: undefined, ...(deadline !== undefined && { deadline: deadline + Math.max(0, now - pausedAt) }) };
}
