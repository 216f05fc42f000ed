import type { Command } from "commander";
import { RemoteError } from "../../client/http/errors.ts";
import { isTerminal } from "../../protocol/state.ts";
import type { CliContext } from "../context.ts";
import { progressText } from "../output/progress.ts";
import { asksCaller, showStream } from "../session/follow-stream.ts";
import { warnOfOutcome } from "../session/outcome.ts";
import { runSession, type Session } from "../session/session.ts";
import { TASK_ID_OPTION, taskArgument } from "../session/task-argument.ts";
import { waitForTask } from "../session/wait-for-task.ts";
import { agentCommand } from "./agent.ts";

/** `palaver task subscribe`. Prints the result of a finished task instead of an error. */
export function taskSubscribeCommand(context: CliContext): Command {
  const command = agentCommand("subscribe", {
    description: "Follow a task until it is finished or asks a question.",
    options: ["task-id", "poll-interval"],
    descriptions: TASK_ID_OPTION,
    examples: [
      ["palaver task subscribe ID --stream -a http://127.0.0.1:3000", "print events as they arrive"],
      ["palaver task subscribe ID --stream -o json", "one JSON event per line"],
      ["palaver task subscribe ID", "wait and print the result"],
    ],
  }).argument("[task-id]", "the task");
  return command.action((named: string | undefined) =>
    runSession(context, command.opts(), async (session) => {
      const id = taskArgument(named, session);
      try {
        await follow(session, id);
      } catch (error) {
        await showFinished(session, id, error);
      }
    }),
  );
}

/** Polls if the agent does not stream, and after a stream that ended before the task. */
async function follow(session: Session, id: string): Promise<void> {
  const { settings, signal, output } = session;
  const agent = await session.connect();
  const remote = agent.task(id);
  if (agent.card.capabilities.streaming !== true) {
    await session.warn("The agent does not stream. The task is polled instead.");
    const task = await waitForTask(session, remote, {});
    await (settings.stream
      ? output.event({ kind: "task", task }).then(() => output.streamEnd(task))
      : output.task(task));
    return warnOfOutcome(session, task);
  }
  if (settings.stream) return showStream(session, remote.subscribe({ signal, result: "none" }));
  const stream = remote.subscribe({ signal });
  for await (const event of stream) {
    if (event.kind === "message" || event.kind === "artifact") continue;
    session.about(event.task);
    session.progress.say(progressText(event.task));
    if (asksCaller(event, undefined)) break;
  }
  const task = await waitForTask(session, remote, { known: stream.task });
  await output.task(task);
  await warnOfOutcome(session, task);
}

/** Agents refuse subscriptions to finished tasks: then show the task. Rethrows every other error. */
async function showFinished(session: Session, id: string, error: unknown): Promise<void> {
  if (!(error instanceof RemoteError) || error.code !== "unsupported-operation") throw error;
  const task = await (await session.connect()).task(id).get({ signal: session.signal });
  if (!isTerminal(task.status.state)) throw error;
  const { settings, output } = session;
  await (settings.stream ? output.event({ kind: "task", task }).then(() => output.streamEnd(task)) : output.task(task));
  await warnOfOutcome(session, task);
}
