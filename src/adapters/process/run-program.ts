import { randomUUID } from "node:crypto";
import type { TaskContext } from "../../engine/agent/agent.ts";
import type { Child } from "./children/child.ts";
import type { Children } from "./children/children.ts";
import { environmentOf } from "./environment.ts";
import type { AnsweredQuestion } from "./lines/input-line.ts";
import { askCaller, lineConversation } from "./lines/line-conversation.ts";
import type { AskLine } from "./lines/program-line.ts";
import { failureOf, processFailure } from "./process-failure.ts";
import type { ProcessSettings } from "./process-options.ts";
import { createStderrLog } from "./stderr-log.ts";
import { textConversation } from "./text-conversation.ts";

/** What a run needs to start its program. */
export interface ProgramHost {
  readonly settings: ProcessSettings;
  readonly children: Children;
}

/**
 * Runs the program for one turn of a task: once, and again after each question with which it ended. The signal of the task stops the program; the promise
 * settles when nothing of it is left.
 */
export async function runProgram(task: TaskContext, host: ProgramHost): Promise<void> {
  const answers: AnsweredQuestion[] = [];
  const budget = { bytes: host.settings.maxOutput };
  for (;;) {
    const line = await runOnce(task, host, { answers, budget });
    if (line === undefined) return;
    const { question: ask, name } = line;
    answers.push({ ask, ...(name !== undefined && { name }), answer: await askCaller(task, line) });
  }
}

interface Turn {
  readonly answers: readonly AnsweredQuestion[];
  /** Bytes of output that are left. */
  readonly budget: { bytes: number };
}

/** Returns the question with which the program ended. */
async function runOnce(task: TaskContext, host: ProgramHost, turn: Turn): Promise<AskLine | undefined> {
  const child = startProgram(task, host);
  // A parked run never continues, so the program is stopped here and not after an await.
  const stop = (): void => void child.stop();
  task.signal.addEventListener("abort", stop);
  if (task.signal.aborted) stop();
  try {
    return await converse(child, { task, host, turn });
  } catch (error) {
    await child.stop();
    throw error;
  } finally {
    task.signal.removeEventListener("abort", stop);
  }
}

function startProgram(task: TaskContext, { settings, children }: ProgramHost): Child {
  const { program, args, cwd, grace } = settings;
  try {
    return children.start({ program, args, cwd, grace, env: environmentOf(task, settings), run: randomUUID() });
  } catch (error) {
    throw notStarted(error);
  }
}

interface Conversing {
  readonly task: TaskContext;
  readonly host: ProgramHost;
  readonly turn: Turn;
}

async function converse(child: Child, { task, host, turn }: Conversing): Promise<AskLine | undefined> {
  const { settings } = host;
  const log = createStderrLog(task.log);
  const errors = child.readErrors(async (chunk) => log.add(chunk));
  const conversation =
    settings.protocol === "jsonl"
      ? lineConversation(child, { task, settings, answers: turn.answers })
      : textConversation(child, task);
  await child.readOutput(async (chunk) => {
    turn.budget.bytes -= chunk.length;
    if (turn.budget.bytes < 0)
      throw processFailure("process-output-too-large", `The program wrote more than ${settings.maxOutput} bytes.`);
    await conversation.output(chunk);
  });
  task.signal.throwIfAborted();
  const ending = await child.ended.catch((error: unknown) => {
    throw notStarted(error);
  });
  await conversation.end();
  await errors;
  log.end();
  task.signal.throwIfAborted();
  const question = conversation.question();
  // After its question a program that goes on is stopped, which is not a failure.
  const failure = question !== undefined && ending.code === null ? undefined : failureOf(ending);
  if (failure !== undefined) throw failure;
  return question;
}

function notStarted(cause: unknown): Error {
  return processFailure("process-not-started", "The program could not be started.", { cause });
}
