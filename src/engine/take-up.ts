import type { TaskId } from "../protocol/ids.ts";
import type { Store, TaskRecord } from "../store/contract.ts";
import type { Agent } from "./agent.ts";
import type { Committer } from "./committer.ts";
import { type Feeds, startOf } from "./feeds.ts";
import { isOnceEntry } from "./once-entry.ts";
import type { Run, RunEnvironment } from "./run.ts";
import { type RunnerRecord, readRunner } from "./runner-record.ts";
import type { Runs } from "./runs.ts";
import { artifactIds, prepareReplay } from "./turn.ts";

/** Starts of one turn that may end in a crash. */
const MAX_TRIES = 3;

export interface TakeUpOptions {
  readonly agents: ReadonlyMap<string, Agent>;
  readonly node: string;
  readonly store: Store;
  readonly committer: Committer;
  readonly feeds: Feeds;
  readonly runs: Runs;
  readonly environment: RunEnvironment;
}

/** `foreign`: its agent is not served here, ever. `left`: not now; it is gone, or somebody else's. */
export type TakenUp = "taken" | "left" | "foreign";

/**
 * Goes on with a task nobody is at work on: its process died, its time to wake has come, or there is something in its inbox.
 * `lost` says that this very process held the lease and dropped it. Rejects, the task being nobody's
 * again, if the store fails.
 */
export async function takeUp(options: TakeUpOptions, id: TaskId, lost: boolean): Promise<TakenUp> {
  const { agents, node, store, committer } = options;
  const before = await store.get(id, { artifacts: false, history: 0 });
  if (before === undefined) return "left";
  const agent = agents.get(before.scope.agent);
  if (agent === undefined) return "foreign";
  // What another node has taken over since is that node's.
  const claim = await committer.submit({ kind: "claim", task: id, node, force: lost && before.node === node });
  if (claim.status !== "ok" || claim.epoch === undefined) return "left";
  const record = await store.get(id, { artifacts: false });
  if (record === undefined) return "left";
  await goOn(options, await openRun(options, { agent, record, epoch: claim.epoch }), record);
  return "taken";
}

async function openRun(
  { store, feeds, runs }: TakeUpOptions,
  { agent, record, epoch }: { readonly agent: Agent; readonly record: TaskRecord; readonly epoch: number },
): Promise<Run> {
  const { id } = record;
  const knownArtifacts = await artifactIds(store, record);
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

async function goOn(options: TakeUpOptions, run: Run, record: TaskRecord): Promise<void> {
  try {
    for (const entry of await options.store.inbox(record.id)) run.writer.deliver(entry);
    await decide(options, run, record);
  } catch (error) {
    // Nobody may be left as its writer who is not at work on it.
    run.writer.lose({ kind: "lease-lost" });
    throw error;
  }
}

async function decide(options: TakeUpOptions, run: Run, record: TaskRecord): Promise<void> {
  const { store, runs, environment } = options;
  const { writer, agent } = run;
  const crashed = record.head.active && writer.runner.released !== true;
  const policy = agent.onRestart ?? "resume";
  const canceled = writer.inbox.some((entry) => entry.kind === "cancel");
  const fail = (text: string): Promise<void> =>
    canceled ? runs.end(run, "canceled") : runs.end(run, "failed", [{ text }]);
  if (canceled && (!run.undoes || (crashed && policy !== "resume"))) return runs.end(run, "canceled");
  if (crashed && policy === "fail") return fail("The server stopped while this task was at work.");
  const tries = crashed ? writer.runner.tries + 1 : writer.runner.tries;
  if (tries > MAX_TRIES) return fail("attempts-exhausted: the task's run came to a bad end three times.");
  const forgets = crashed && policy === "retry";
  const steps = forgets ? [] : await store.steps(record.id);
  const beginning = await prepareReplay({ agent, writer, record, store, sealer: environment.sealer, steps });
  if (beginning === undefined) return fail("The message this task was at work on is no longer kept.");
  if (forgets) writer.forgetSteps();
  writer.keep({
    runner: {
      attempt: writer.runner.attempt + 1,
      tries,
      released: undefined,
      ...(forgets && { questions: undefined }),
      ...unpaused(writer.runner, environment.clock.now()),
    },
    active: true,
    wakeAt: undefined,
  });
  // The attempt is counted before it begins: a run that brings the process down is found out.
  await writer.flush();
  runs.begin(run, beginning);
}

/** Whatever it waited for, it is at work now; the time it waited does not count. */
function unpaused({ pausedAt, deadline }: RunnerRecord, now: number): Partial<RunnerRecord> {
  if (pausedAt === undefined) return {};
  return { pausedAt: undefined, ...(deadline !== undefined && { deadline: deadline + Math.max(0, now - pausedAt) }) };
}
