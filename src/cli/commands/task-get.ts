import type { Command } from "commander";
import type { GetOptions, RemoteTask } from "../../client/api.ts";
import { isTerminal } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import type { CliContext } from "../context.ts";
import { warnOfOutcome } from "../session/outcome.ts";
import { runSession, type Session } from "../session/session.ts";
import { TASK_ID_OPTION, taskArgument } from "../session/task-argument.ts";
import { waitForTask } from "../session/wait-for-task.ts";
import { agentCommand } from "./agent.ts";

interface GetFlags {
  readonly history?: number;
  readonly waitForChange?: number;
}

/** `palaver task get`. Does not wait by default, unlike `send`. */
export function taskGetCommand(context: CliContext): Command {
  const command = agentCommand("get", {
    description: "Show a task: its state, artifacts and messages.",
    options: ["task-id", "wait", "async", "poll-interval"],
    descriptions: TASK_ID_OPTION,
    own: [
      { flags: "--history <n>", description: "also show the last n messages", whole: true },
      {
        flags: "--wait-for-change <generation>",
        description: "wait until the task has a greater generation or has ended; needs --a2a-version 1.1",
        whole: true,
      },
    ],
    examples: [
      ["palaver task get ID -a http://127.0.0.1:3000", "show the task as it is now"],
      ["palaver task get ID --wait --timeout 5m", "wait until it is finished or asks a question"],
      ["palaver task get ID --history 10 -o json", "with the last ten messages, as JSON"],
      ["palaver task get ID --a2a-version 1.1 --wait-for-change 3", "wait for generation 4"],
    ],
  }).argument("[task-id]", "the task");
  return command.action((named: string | undefined) =>
    runSession(context, command.opts(), async (session) => {
      const id = taskArgument(named, session);
      const { history: historyLength, waitForChange }: GetFlags = command.opts();
      const remote = (await session.connect()).task(id);
      const task =
        session.settings.wait === true
          ? await waitForTask(session, remote, { historyLength })
          : await readTask(session, remote, { historyLength, waitForChange });
      await session.output.task(task, { history: historyLength !== undefined });
      await warnOfOutcome(session, task);
    }),
  );
}

/** An agent ends the wait for a change after some time: then it is asked again. */
async function readTask(
  { signal }: Session,
  remote: RemoteTask,
  { historyLength, waitForChange }: { readonly [Name in keyof GetOptions]: GetOptions[Name] | undefined },
): Promise<Task> {
  const options: GetOptions = {
    signal,
    ...(historyLength !== undefined && { historyLength }),
    ...(waitForChange !== undefined && { waitForChange }),
  };
  for (;;) {
    const task = await remote.get(options);
    const hasChanged = waitForChange === undefined || task.generation === undefined || task.generation > waitForChange;
    if (hasChanged || isTerminal(task.status.state)) return task;
  }
}
