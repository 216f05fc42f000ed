import type { Command } from "commander";
import type { AgentClient, SendOptions } from "../../client/api.ts";
import { RemoteError } from "../../client/http/errors.ts";
import type { Part } from "../../protocol/part.ts";
import { isInterrupted } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { answerOnTerminal } from "../session/answer-on-terminal.ts";
import { readParts } from "../session/message-parts.ts";
import { runSession, type Session } from "../session/session.ts";
import { showTurn } from "../session/show-turn.ts";
import { agentCommand } from "./agent.ts";

const HELP = `/file PATH    attach a file to the next message
/new          begin a new conversation
/exit, /quit  leave (also Ctrl+D)
/help         show these commands
Ctrl+C        cancels the answer that is arriving`;

/** `palaver chat`: a conversation on the terminal. */
export function chatCommand(context: CliContext): Command {
  const command = agentCommand("chat", {
    description: "Talk to an agent on the terminal.",
    options: ["context-id"],
    examples: [
      ["palaver chat http://127.0.0.1:3000/agents/booking", "talk to an agent"],
      ["palaver chat -a URL --context-id ID", "go on with an earlier conversation"],
    ],
  })
    .argument("[url]", "the agent; the same as -a")
    .addHelpText("after", `\nWhile you talk:\n${HELP.replaceAll(/^/gm, "  ")}\n\nOther lines go to the agent.\n`);
  return command.action((url: string | undefined) =>
    runSession(context, { ...command.opts(), ...(url !== undefined && { agentCard: url }) }, async (session) => {
      const { prompt } = context;
      if (prompt === undefined)
        throw usageError("palaver chat needs a terminal.", 'In scripts: palaver send "Hello" -a URL');
      const agent = await session.connect();
      // The progress line would overwrite what the user types.
      await session.progress.stop();
      await session.note(`Talking to ${agent.card.name}. /help shows the commands.`);
      await converse({ session, agent, prompt: untilExit(prompt) });
    }),
  );
}

type Prompt = NonNullable<CliContext["prompt"]>;

interface Talk {
  readonly session: Session;
  readonly agent: AgentClient;
  readonly prompt: Prompt;
}

/** A prompt whose input ends with `/exit` or `/quit`, also where the agent asks for a field of a form. */
function untilExit(prompt: Prompt): Prompt {
  let hasEnded = false;
  return async (question, options) => {
    const line = hasEnded ? undefined : await prompt(question, options);
    hasEnded = line === undefined || ["/exit", "/quit"].includes(line.trim());
    return hasEnded ? undefined : line;
  };
}

/** Reads lines and sends them until the input ends. The context stays the same; a task that waits gets the next line as its answer. */
async function converse({ session, agent, prompt }: Talk): Promise<void> {
  let contextId = session.settings.contextId;
  let waiting: { readonly id: string; readonly isSecret: boolean } | undefined;
  let files: readonly Part[] = [];
  for (;;) {
    const line = await prompt(waiting === undefined ? "> " : waiting.isSecret ? "answer (hidden)> " : "answer> ", {
      hidden: waiting?.isSecret === true,
    });
    if (line === undefined) return;
    const [, command, argument = ""] = /^\/(file|new|help)\b\s*(.*)$/.exec(line.trim()) ?? [];
    if (command === "help") await notes(session, HELP);
    else if (command === "new") {
      [contextId, waiting, files] = [undefined, undefined, []];
      await session.note("A new conversation.");
    } else if (command === "file") files = [...files, ...(await attached(session, argument))];
    else if (line.trim() !== "" || files.length > 0) {
      const parts = [...(line.trim() === "" ? [] : [{ text: line }]), ...files];
      files = [];
      const task = await turn({ session, agent, prompt }, parts, { contextId, taskId: waiting?.id });
      contextId = task?.contextId || contextId;
      waiting =
        task === undefined || !isInterrupted(task.status.state)
          ? undefined
          : { id: task.id, isSecret: task.status.message?.metadata?.["sensitive"] === true };
    }
  }
}

/** Sends one message. A failure is printed, and the conversation goes on. Ctrl+C cancels the task. */
async function turn(
  { session, agent, prompt }: Talk,
  parts: readonly Part[],
  { contextId, taskId }: { readonly contextId: string | undefined; readonly taskId: string | undefined },
): ReturnType<typeof showTurn> {
  const interrupted = new AbortController();
  const done = session.context.onInterrupt?.(() => interrupted.abort());
  const onInput = answerOnTerminal(session, { plain: false, prompt });
  const options: SendOptions = {
    signal: AbortSignal.any([session.signal, interrupted.signal]),
    ...(onInput !== undefined && { onInput }),
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
  };
  let task: Task | undefined;
  try {
    const stream = agent.stream(parts, { ...options, result: "none" });
    return await showTurn(session, stream, (known) => {
      task = known;
    });
  } catch (error) {
    if (interrupted.signal.aborted) return await canceled(session, agent, task);
    if (session.signal.aborted || !(error instanceof RemoteError)) throw error;
    await session.warn(`${error.message} (${error.code})`);
    return undefined;
  } finally {
    done?.();
  }
}

/** Cancels the task of an interrupted answer. */
async function canceled(session: Session, agent: AgentClient, task: Task | undefined): ReturnType<typeof showTurn> {
  await session.context.stdout.write("\n");
  if (task === undefined) {
    await session.note("Interrupted.");
    return undefined;
  }
  try {
    const ended = await agent.task(task.id).cancel({ signal: session.signal });
    await session.note("The task was canceled.");
    return ended;
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    await session.warn(`The task could not be canceled: ${error.message} (${error.code})`);
    return undefined;
  }
}

async function attached(session: Session, path: string): Promise<readonly Part[]> {
  try {
    const parts = await readParts(undefined, [{ kind: "file", value: path }], session.context);
    await session.note(`Attached to the next message: ${path}`);
    return parts;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await session.warn(error.message);
    return [];
  }
}

async function notes(session: Session, text: string): Promise<void> {
  for (const line of text.split("\n")) await session.note(line);
}
