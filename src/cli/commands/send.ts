import type { Command } from "commander";
import type { AgentClient, RemoteStream, SendOptions, Sent } from "../../client/api.ts";
import { RemoteError } from "../../client/http/errors.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { progressText } from "../output/progress.ts";
import { answerOnTerminal } from "../session/answer-on-terminal.ts";
import { asksCaller, showStream } from "../session/follow-stream.ts";
import { addPartOptions, readParts } from "../session/message-parts.ts";
import { warnOfOutcome } from "../session/outcome.ts";
import { runSession, type Session } from "../session/session.ts";
import { isSettled, waitForTask } from "../session/wait-for-task.ts";
import { agentCommand } from "./agent.ts";

interface SendFlags {
  readonly ifGeneration?: number;
}

/** `palaver send`. Waits by default, also in versions whose sends cannot wait. */
export function sendCommand(context: CliContext): Command {
  const command = agentCommand("send", {
    description: "Send a message to an agent and wait for the result.",
    options: ["context-id", "task-id", "wait", "async", "poll-interval", "metadata"],
    own: [
      {
        flags: "--if-generation <generation>",
        description: "send only if the task still has this generation; needs --task-id and --a2a-version 1.1",
        whole: true,
      },
    ],
    examples: [
      ['palaver send "Hello" -a http://127.0.0.1:3000', "send, wait, and print the answer"],
      ['palaver send "Count to ten" -a URL --stream', "print the answer while it arrives"],
      ['palaver send "Yes" --task-id ID -a URL', "answer the question of a task"],
      ['palaver send "And now?" --context-id ID -a URL', "a new task in an existing context"],
      ["palaver send --text Compare --file a.pdf --file b.pdf", "several parts, in this order"],
      ["palaver send --data - -o json < order.json | jq .task", "JSON in, JSON out"],
      ['palaver send "Long work" --async', "print the ids at once"],
    ],
  }).argument("[text]", "text of the message; - reads it from standard input");
  const typed = addPartOptions(command);
  return command.action((text: string | undefined) =>
    runSession(context, command.opts(), async (session) => {
      if (session.settings.stream && session.sources.flags["async"] === true) {
        throw usageError("--stream and --async contradict each other.", "Leave one of them out.");
      }
      const { ifGeneration }: SendFlags = command.opts();
      if (ifGeneration !== undefined && session.settings.taskId === undefined) {
        throw usageError("--if-generation needs --task-id.", "A new task has no generation yet.");
      }
      await send(session, await readParts(text, typed, context), ifGeneration);
    }),
  );
}

/** Three ways: `--stream` prints events, `--async` prints the ids, otherwise the result is printed when the task is settled. */
async function send(session: Session, parts: readonly Part[], ifGeneration: number | undefined): Promise<void> {
  const { settings, signal, output } = session;
  const agent = await session.connect();
  const options: SendOptions = {
    signal,
    ...(settings.taskId !== undefined && { taskId: settings.taskId }),
    ...(settings.contextId !== undefined && { contextId: settings.contextId }),
    ...(settings.metadata !== undefined && { metadata: settings.metadata }),
    ...(ifGeneration !== undefined && { ifGeneration }),
  };
  const onInput =
    settings.output === "json" ? undefined : answerOnTerminal(session, { plain: true, isShown: settings.stream });
  const answering = onInput === undefined ? options : { ...options, onInput };
  if (settings.stream) {
    if (agent.card.capabilities.streaming !== true)
      await session.warn("The agent does not stream. The task is polled instead.");
    const stream = agent.stream(parts, { ...answering, result: "none" });
    return showStream(session, stream, { repliedTo: settings.taskId, answers: onInput !== undefined });
  }
  if (settings.wait === false) {
    const sent = checked(await agent.send(parts, { ...options, wait: false }), settings.taskId);
    return output.sent(sent);
  }
  session.progress.say("Waiting for the agent");
  const sent = await waited(session, agent.stream(parts, answering), { agent, answers: onInput !== undefined });
  await finish(session, agent, checked(sent, settings.taskId));
}

/** Fails if the agent created a new task instead of continuing the requested task. */
function checked(sent: Sent, taskId: string | undefined): Sent {
  if (sent.kind === "task" && taskId !== undefined && sent.task.id !== taskId) {
    throw new RemoteError(
      "invalid-agent-response",
      `The agent should have continued task ${taskId} and answered with task ${sent.task.id}.`,
      { taskId: sent.task.id },
    );
  }
  return sent;
}

/** Prints the result. The exit code is 0 even if the task failed: the call succeeded. */
async function finish(session: Session, agent: AgentClient, sent: Sent): Promise<void> {
  if (sent.kind === "message") return session.output.sent(sent);
  session.about(sent.task);
  const task = await waitForTask(session, agent.task(sent.task.id), { known: sent.task });
  await session.output.sent({ kind: "task", task });
  await warnOfOutcome(session, task);
}

/**
 * Waits for the answer: reads the stream, which shows progress, and polls the task if the stream breaks. `answers`: the stream answers questions
 * itself, and ends with a question that it cannot answer.
 */
async function waited(
  session: Session,
  stream: RemoteStream,
  { agent, answers }: { readonly agent: AgentClient; readonly answers: boolean },
): Promise<Sent> {
  let message: Message | undefined;
  try {
    for await (const event of stream) {
      if (event.kind === "message") message = event.message;
      else if (event.kind !== "artifact") {
        // Artifact events do not change the progress line, and reading `event.task` would assemble the whole task.
        session.about(event.task);
        session.progress.say(progressText(event.task));
      }
      if (!answers && asksCaller(event, session.settings.taskId)) break;
    }
  } catch (error) {
    const { task } = stream;
    if (task === undefined || session.signal.aborted) throw error;
    if (session.settings.debug) await session.warn("The stream broke. The task is polled instead.");
    return { kind: "task", task: await waitForTask(session, agent.task(task.id), {}) };
  }
  const { task } = stream;
  if (task === undefined) {
    if (message !== undefined) return { kind: "message", message };
    throw new RemoteError("invalid-agent-response", "The agent's stream ended without an answer.");
  }
  // The stream ended before the task: poll until the task is settled.
  return {
    kind: "task",
    task: isSettled(task.status.state) ? task : await waitForTask(session, agent.task(task.id), {}),
  };
}
