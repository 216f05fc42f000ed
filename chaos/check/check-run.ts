import type { Entry } from "../journal.ts";
import type { TaskPlan } from "../plan.ts";
import type { Drain } from "../supervisor.ts";
import type { TaskTruth } from "../truth.ts";
import { checkAnswers } from "./check-answers.ts";
import { checkEnd } from "./check-end.ts";
import { checkHistory, checkMessages } from "./check-messages.ts";
import { checkReader, readerStories } from "./check-readers.ts";
import { checkSends } from "./check-sends.ts";
import { checkSteps } from "./check-steps.ts";
import { checkWaiting } from "./check-waiting.ts";
import { checkEventWebhook, checkTaskWebhook, type Notified } from "./check-webhooks.ts";
import type { Discrepancy } from "./discrepancy.ts";

/** All data of a finished run. */
export interface Evidence {
  readonly tasks: readonly TaskTruth[];
  /** The journals of all clients. */
  readonly clients: readonly Entry[];
  readonly receiver: readonly Entry[];
  readonly steps: readonly Entry[];
  readonly drains: readonly Drain[];
  /** Unexpected ends of the server process. */
  readonly deaths: readonly string[];
  readonly planOf: (task: string) => TaskPlan;
}

/** Compares the records of all participants with the log. */
export function checkRun(evidence: Evidence): Discrepancy[] {
  const { tasks, clients, receiver, steps, drains, deaths, planOf } = evidence;
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const saidTo = Map.groupBy(clients, (entry) => ("task" in entry ? entry.task : ""));
  const notified = receiver.filter((entry) => entry.kind === "notified");
  const toldOf = Map.groupBy(notified, ({ task }) => task);
  const found: Discrepancy[] = [
    ...deaths.map((what): Discrepancy => ({ kind: "died", task: "", who: "server", what })),
    ...badDrains(drains),
    ...checkSends(tasks, clients),
    ...checkSteps(steps),
    ...checkAnswers(clients, { tasks: byName, drains }),
    ...checkWaiting(clients, planOf),
  ];
  for (const story of readerStories(clients)) {
    const truth = byName.get(story.task);
    if (truth !== undefined) found.push(...checkReader(story, truth));
  }
  for (const truth of tasks) {
    const plan = planOf(truth.name);
    const entries = saidTo.get(truth.name) ?? [];
    found.push(...checkEnd(truth, plan, entries), ...checkMessages(truth, entries), ...checkHistory(truth));
    if (plan.webhook) found.push(...checkWebhook(truth, toldOf.get(truth.name) ?? []));
  }
  return withoutConsequences(found);
}

/** Removes consequences: if a client failed or was never answered, its task is stuck for that reason. */
function withoutConsequences(found: readonly Discrepancy[]): Discrepancy[] {
  const causes = found.filter(({ kind }) => kind === "failed" || kind === "second-answer");
  const explained = new Set(causes.map(({ task }) => task));
  return found.filter(({ kind, task }) => kind !== "stuck" || !explained.has(task));
}

function checkWebhook(truth: TaskTruth, notified: readonly Notified[]): Discrepancy[] {
  const { name: task, webhooks } = truth;
  const unsettled = webhooks.filter((state) => state !== "idle");
  if (unsettled.length > 0) {
    return [{ kind: "stuck", task, who: "webhook", what: `is ${unsettled.join()} after all tasks have ended` }];
  }
  return notified[0]?.hook.includes("/0.3/") === true
    ? checkTaskWebhook(truth, notified)
    : checkEventWebhook(truth, notified);
}

function badDrains(drains: readonly Drain[]): Discrepancy[] {
  const bad = drains.filter(({ code }) => code !== 0);
  return bad.map(({ code }) => ({ kind: "died", task: "", who: "server", what: `exited with ${code} after SIGTERM` }));
}
