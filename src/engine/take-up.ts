import type { TaskId } from "../protocol/ids.ts";
import type { Part } from "../protocol/part.ts";
import type { Store, TaskRecord } from "../store/contract.ts";
import type { Agent } from "./agent.ts";
import type { Committer } from "./committer.ts";
import { type Feeds, startOf } from "./feeds.ts";
import type { Run, RunEnvironment } from "./run.ts";
import { readRunner } from "./runner-record.ts";
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

/**
 * Goes on with a task nobody is at work on: its process died, its time to wake has come, or there is something in its inbox.
 * `lost` says that this very process held the lease and dropped it.
 */
export async function takeUp(options: TakeUpOptions, id: TaskId, lost: boolean): Promise<void> {
  const { agents, node, store, committer, feeds, runs } = options;
  const before = await store.get(id, { artifacts: false, history: 0 });
  const agent = before === undefined ? undefined : agents.get(before.scope.agent);
  if (agent === undefined) return;
  const claim = await committer.submit({ kind: "claim", task: id, node, force: lost });
  if (claim.status !== "ok" || claim.epoch === undefined) return;
  const record = await store.get(id, { artifacts: false });
  if (record === undefined) return;
  const feed = feeds.of(record);
  // Whoever followed the task meanwhile sees what the store holds before anything new.
  if (feed.seq < record.seq) feed.advanceTo(record.seq, startOf(record));
  const run = runs.open(agent, feed, {
    ref: { id, contextId: record.contextId, scope: record.scope },
    epoch: claim.epoch,
    seq: record.seq,
    head: record.head,
    runner: readRunner(record.head.runner),
    knownArtifacts: await artifactIds(store, record),
    historyLength: record.history.length,
  });
  for (const entry of await store.inbox(id)) run.writer.deliver(entry);
  await goOn(options, run, record);
}

async function goOn(options: TakeUpOptions, run: Run, record: TaskRecord): Promise<void> {
  const { store, runs, environment } = options;
  const { writer, agent } = run;
  if (writer.inbox.some((entry) => entry.kind === "cancel")) return runs.end(run, "canceled");
  const crashed = record.head.active && writer.runner.released !== true;
  const policy = agent.onRestart ?? "resume";
  if (crashed && policy === "fail") return runs.end(run, "failed", says("The server stopped while this task was at work."));
  const tries = crashed ? writer.runner.tries + 1 : writer.runner.tries;
  if (tries > MAX_TRIES) return runs.end(run, "failed", says("attempts-exhausted: the task's run came to a bad end three times."));
  const forgets = crashed && policy === "retry";
  const steps = forgets ? [] : await store.steps(record.id);
  const beginning = await prepareReplay({ agent, writer, record, store, sealer: environment.sealer, steps });
  if (beginning === undefined) return runs.end(run, "failed", says("The message this task was at work on is no longer kept."));
  if (forgets) writer.forgetSteps();
  writer.keep({
    runner: { attempt: writer.runner.attempt + 1, tries, released: undefined },
    active: true,
    wakeAt: undefined,
  });
  // The attempt is counted before it begins: a run that brings the process down is found out.
  await writer.flush();
  runs.begin(run, beginning);
}

function says(text: string): readonly Part[] {
  return [{ text }];
}

