import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { warnOfOutcome } from "../session/outcome.ts";
import { runSession } from "../session/session.ts";
import { TASK_ID_OPTION, taskArgument } from "../session/task-argument.ts";
import { waitForTask } from "../session/wait-for-task.ts";
import { agentCommand } from "./agent.ts";

export function taskGetCommand(context: CliContext): Command {
  const command = agentCommand("get", {
    description: "Show a task: its state, artifacts and messages.",
    options: ["task-id", "wait", "async", "poll-interval"],
    descriptions: TASK_ID_OPTION,
    own: [{ flags: "--history <n>", description: "also show the last n messages", whole: true }],
    examples: [
      ["palaver task get ID -a http://127.0.0.1:3000", "show the task as it is now"],
      ["palaver task get ID --wait --timeout 5m", "wait until it is finished or asks a question"],
      ["palaver task get ID --history 10 -o json", "with the last ten messages, as JSON"],
    ],
  }).argument("[task-id]", "the task");
  return command.action((named: string | undefined) =>
    runSession(context, command.opts(), async (session) => {
      const id = taskArgument(named, session);
      const { history: historyLength }: { readonly history?: number } = command.opts();
      const remote = (await session.connect()).task(id);
      const task =
        session.settings.wait === true
          ? await waitForTask(session, remote, { historyLength })
          : await remote.get({ signal: session.signal, ...(historyLength !== undefined && { historyLength }) });
      await session.output.task(task, { history: historyLength !== undefined });
      await warnOfOutcome(session, task);
    }),
  );
}
