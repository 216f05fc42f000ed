import { randomUUID } from "node:crypto";
import type { TaskContext } from "../../engine/agent/agent.ts";
import type { Child } from "./children/child.ts";
import type { Children } from "./children/children.ts";
import { environmentOf } from "./environment.ts";
import { failureOf, processFailure } from "./process-failure.ts";
import type { ProcessSettings } from "./process-options.ts";
import { createStderrLog } from "./stderr-log.ts";
import { textConversation } from "./text-conversation.ts";

/** What a run needs to start its program. */
export interface ProgramHost {
  readonly settings: ProcessSettings;
  readonly children: Children;
}

/** Runs the program for one turn of a task. The signal of the task stops the program; the promise settles when nothing of it is left. */
export async function runProgram(task: TaskContext, host: ProgramHost): Promise<void> {
  const child = startProgram(task, host);
  // A parked run never continues, so the program is stopped here and not after an await.
  const stop = (): void => void child.stop();
  task.signal.addEventListener("abort", stop);
  if (task.signal.aborted) stop();
  try {
    await converse(child, task, host.settings);
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

async function converse(child: Child, task: TaskContext, settings: ProcessSettings): Promise<void> {
  const log = createStderrLog(task.log);
  const errors = child.readErrors(async (chunk) => log.add(chunk));
  let bytes = 0;
  const conversation = textConversation(child, task);
  await child.readOutput(async (chunk) => {
    bytes += chunk.length;
    if (bytes > settings.maxOutput)
      throw processFailure("process-output-too-large", `The program wrote more than ${settings.maxOutput} bytes.`);
    await conversation.output(chunk);
  });
  task.signal.throwIfAborted();
  await conversation.end();
  const ending = await child.ended.catch((error: unknown) => {
    throw notStarted(error);
  });
  await errors;
  log.end();
  task.signal.throwIfAborted();
  const failure = failureOf(ending);
  if (failure !== undefined) throw failure;
}

function notStarted(cause: unknown): Error {
  return processFailure("process-not-started", "The program could not be started.", { cause });
}
