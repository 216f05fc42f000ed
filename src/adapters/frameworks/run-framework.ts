import { type StepContext, TaskAborted, type TaskContext, type Usage } from "../../engine/agent/agent.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { untilAborted } from "../models/until-aborted.ts";
import { answerQuestion } from "./answer-question.ts";
import type { Framework, FrameworkEvent, FrameworkProgress, FrameworkQuestion } from "./framework.ts";
import type { AdapterOptions } from "./framework-options.ts";
import { type ToolReport, ToolReports } from "./tool-reports.ts";

/** What a framework did between two checkpoints, as its step stores it. */
interface Stage {
  readonly state: JsonObject;
  readonly hasText: boolean;
  readonly tools: readonly ToolReport[];
  readonly usage: Readonly<Record<string, number>>;
  /** Present: the framework has ended. */
  readonly questions?: readonly FrameworkQuestion[];
}

/** Written between the texts of two messages of a model. */
const SEPARATOR = "\n\n";

/**
 * Runs an agent of a framework for one turn of a task. The work up to each checkpoint of the framework is one step: after a crash the framework
 * continues from the last stored checkpoint, and only the work after it is done again. Throws a `TaskFailure` with the code `agent-failed` if the
 * framework fails; its own error is only logged.
 */
export async function runFramework(task: TaskContext, framework: Framework, options: AdapterOptions): Promise<void> {
  const progress: FrameworkProgress[] = [];
  const reports = new ToolReports(task, options.toolEvents);
  let events: AsyncIterator<FrameworkEvent> | undefined;
  let hasText = false;
  try {
    for (;;) {
      let isReplayed = true;
      const stage: Stage = await task.step("framework", (step) => {
        isReplayed = false;
        // One run of the framework lasts for several steps, unless a restart came in between.
        events ??= framework.run({ task, progress: [...progress] })[Symbol.asyncIterator]();
        return readStage(events, { task, step, reports, hasText });
      });
      if (isReplayed) for (const report of stage.tools) reports.restore(report);
      hasText ||= stage.hasText;
      progress.push({ state: stage.state });
      await task.usage(stage.usage);
      if (stage.questions === undefined) continue;
      events = undefined;
      if (stage.questions.length === 0) return;
      const answers = await Promise.all(stage.questions.map((question) => answerQuestion(task, question, options)));
      progress.push({ answers });
    }
  } finally {
    // Frees what the framework holds, if it has not ended by itself. It may ignore that, so nothing waits for it.
    void Promise.resolve(events?.return?.()).catch(() => {});
  }
}

interface Reading {
  readonly task: TaskContext;
  readonly step: StepContext;
  readonly reports: ToolReports;
  /** Whether the result has text already. */
  readonly hasText: boolean;
}

/** Passes the events on to the task, up to the next checkpoint. */
async function readStage(
  events: AsyncIterator<FrameworkEvent>,
  { task, step, reports, hasText }: Reading,
): Promise<Stage> {
  const tools: ToolReport[] = [];
  const usage: Record<string, number> = {};
  let wroteText = false;
  let isSeparate = hasText;
  for (;;) {
    const event = await nextEvent(events, { task, step });
    switch (event.kind) {
      case "message":
        isSeparate = hasText || wroteText;
        break;
      case "text":
        if (event.text === "") break;
        await task.write(isSeparate ? SEPARATOR + event.text : event.text);
        isSeparate = false;
        wroteText = true;
        break;
      case "output":
        await task.write(event.output);
        break;
      case "usage":
        addUsage(usage, event.usage);
        break;
      case "checkpoint":
        return { state: event.state, hasText: wroteText, tools, usage };
      case "end":
        return { state: event.state, hasText: wroteText, tools, usage, questions: event.questions };
      default: {
        if (event.kind === "tool-call") addUsage(usage, { toolCalls: 1 });
        const report = await reports.report(event);
        if (report !== undefined) tools.push(report);
      }
    }
  }
}

async function nextEvent(
  events: AsyncIterator<FrameworkEvent>,
  { task, step }: Pick<Reading, "task" | "step">,
): Promise<FrameworkEvent> {
  try {
    const next = await untilAborted(events.next(), step.signal);
    if (next.done !== true) return next.value;
    throw new Error("The framework ended without a result.");
  } catch (error) {
    if (step.signal.aborted) throw step.signal.reason;
    if (error instanceof TaskFailure || error instanceof TaskAborted) throw error;
    task.log.warn("The framework failed", { error });
    // The text of the error may contain anything, so the caller does not see it.
    throw new TaskFailure("The agent failed.", { code: "agent-failed", data: { code: "agent-failed" }, cause: error });
  }
}

/** Counters that are missing or invalid are left out: providers are not exact. */
function addUsage(total: Record<string, number>, usage: Usage): void {
  for (const [name, value] of Object.entries(usage))
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) total[name] = (total[name] ?? 0) + value;
}
