import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { runSession } from "../session/session.ts";
import { TASK_ID_OPTION, taskArgument } from "../session/task-argument.ts";
import { agentCommand } from "./agent.ts";

/** `palaver task cancel`. */
export function taskCancelCommand(context: CliContext): Command {
  const command = agentCommand("cancel", {
    description: "Cancel a task and show the result.",
    options: ["task-id", "metadata"],
    descriptions: TASK_ID_OPTION,
    examples: [["palaver task cancel ID -a http://127.0.0.1:3000", "cancel the task; repeating it does no harm"]],
  }).argument("[task-id]", "the task");
  return command.action((named: string | undefined) =>
    runSession(context, command.opts(), async (session) => {
      const { metadata } = session.settings;
      const id = taskArgument(named, session);
      const agent = await session.connect();
      await session.output.task(
        await agent.task(id).cancel({ signal: session.signal, ...(metadata !== undefined && { metadata }) }),
      );
    }),
  );
}
