import { randomUUID } from "node:crypto";
import type { ClientContext, SessionUpdate } from "@agentclientprotocol/sdk";
import type { StepContext, TaskContext } from "../../engine/agent/agent.ts";
import type { Child } from "../process/children/child.ts";
import { environmentOf } from "../process/environment.ts";
import { processFailure } from "../process/process-failure.ts";
import { createStderrLog } from "../process/stderr-log.ts";
import { acpFailure } from "./acp-failure.ts";
import type { AcpHost } from "./acp-host.ts";
import { openSession, type Session } from "./open-session.ts";
import { decidePermission } from "./permissions.ts";
import { programStream } from "./program-stream.ts";
import { promptContent } from "./prompt-content.ts";
import { readSessionFile, writeSessionFile } from "./session-files.ts";
import { SessionUpdates } from "./session-updates.ts";

/**
 * Runs one prompt for a task, as one step: while the ACP agent works or waits for a permission, the run is not parked. The signal of the task cancels the prompt and
 * then stops the program.
 */
export async function runAcp(task: TaskContext, host: AcpHost): Promise<void> {
  const { stopReason } = await task.step("prompt", async (step) => {
    const child = startProgram(task, host);
    try {
      return await converse(child, { task, step, host });
    } finally {
      await child.stop();
    }
  });
  if (stopReason === "refusal") task.reject("The agent refused the prompt.");
  if (stopReason !== "end_turn")
    throw acpFailure("acp-stopped", `The agent stopped: ${stopReason.replaceAll("_", " ")}.`, { data: { stopReason } });
}

function startProgram(task: TaskContext, { program: settings, children }: AcpHost): Child {
  const { program, args, cwd, grace } = settings;
  try {
    return children.start({ program, args, cwd, grace, env: environmentOf(task, settings), run: randomUUID() });
  } catch (cause) {
    throw processFailure("process-not-started", "The program could not be started.", { cause });
  }
}

interface Conversing {
  readonly task: TaskContext;
  readonly step: StepContext;
  readonly host: AcpHost;
}

async function converse(child: Child, { task, step, host }: Conversing): Promise<{ readonly stopReason: string }> {
  const acp = await import("@agentclientprotocol/sdk");
  const { settings, program } = host;
  const log = createStderrLog(task.log);
  const errors = child.readErrors(async (chunk) => log.add(chunk));
  const stream = programStream(child, program.maxOutput);
  const updates = new SessionUpdates(task, settings.showReasoning);
  let receive = (_update: SessionUpdate): Promise<void> => Promise.resolve();
  const app = clientApp(acp, { task, host, receive: (update) => receive(update) });
  const connection = app.connect(acp.ndJsonStream(stream.output, stream.input, { maxMessageBytes: program.maxLine }));
  try {
    const session = await within(
      openSession(acp, connection.agent, {
        task,
        host,
        onUpdates: (handle) => {
          receive = handle;
        },
      }),
      settings.startTimeout,
    );
    for (const update of session.earlier) await updates.add(update);
    receive = (update) => updates.add(update);
    const stopReason = await prompt(connection.agent, session, { task, step, host });
    await updates.settled();
    return { stopReason };
  } catch (error) {
    step.signal.throwIfAborted();
    throw stream.failure() ?? (await failureOf(error, child));
  } finally {
    connection.close();
    await child.stop();
    await errors.catch(() => {});
    log.end();
  }
}

type Acp = typeof import("@agentclientprotocol/sdk");

interface AppHost {
  readonly task: TaskContext;
  readonly host: AcpHost;
  readonly receive: (update: SessionUpdate) => Promise<void>;
}

/** Answers the requests of the ACP agent. Terminals are not offered. */
function clientApp(acp: Acp, { task, host, receive }: AppHost) {
  const { settings, program } = host;
  const { client } = acp.methods;
  const refuse = (error: unknown): never => {
    throw acp.RequestError.invalidParams(undefined, error instanceof Error ? error.message : String(error));
  };
  const app = acp
    .client({ name: "palaver" })
    .onRequest(client.session.requestPermission, async ({ params }) => ({
      outcome: await decidePermission(task, params, settings.permissions),
    }))
    .onNotification(client.session.update, ({ params }) => receive(params.update));
  if (settings.files !== "none")
    app.onRequest(client.fs.readTextFile, async ({ params }) => ({
      content: await readSessionFile(params.path, program, params).catch(refuse),
    }));
  if (settings.files === "write")
    app.onRequest(client.fs.writeTextFile, async ({ params }) => {
      await writeSessionFile(params.path, params.content, program).catch(refuse);
      return {};
    });
  return app;
}

/** Sends the message, or after a restart the request to go on. On abort, asks the agent to cancel, and gives it the grace to do so. */
async function prompt(agent: ClientContext, session: Session, { task, step, host }: Conversing): Promise<string> {
  const { sessionId, accepts, isContinued } = session;
  const text = host.settings.continueWith;
  const content = isContinued ? [{ type: "text" as const, text }] : promptContent(task.message, accepts);
  const cancel = (): void => void agent.notify("session/cancel", { sessionId }).catch(() => {});
  step.signal.addEventListener("abort", cancel, { once: true });
  const aborted = Promise.withResolvers<never>();
  const giveUp = (): void => void setTimeout(() => aborted.reject(step.signal.reason), host.program.grace).unref();
  step.signal.addEventListener("abort", giveUp, { once: true });
  try {
    const answer = agent.request("session/prompt", { sessionId, prompt: content });
    const { stopReason } = await Promise.race([answer, aborted.promise]);
    step.signal.throwIfAborted();
    return stopReason;
  } finally {
    step.signal.removeEventListener("abort", cancel);
    step.signal.removeEventListener("abort", giveUp);
  }
}

async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(acpFailure("acp-not-started", `The agent did not start within ${milliseconds} ms.`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const AUTH_REQUIRED = -32000;
const MAX_WORDS = 2000;

/** The failure that the caller sees for an error of the connection. */
async function failureOf(error: unknown, child: Child): Promise<unknown> {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === AUTH_REQUIRED)
    return acpFailure("acp-auth-required", "The agent is not logged in. Its operator must log it in.", {
      cause: error,
    });
  if (typeof code === "number" && error instanceof Error)
    return acpFailure("acp-prompt-failed", error.message.slice(0, MAX_WORDS) || "The agent failed.", {
      cause: error,
      data: { rpcCode: code },
    });
  if (error instanceof Error && error.name === "TaskFailure") return error;
  if (!child.hasExited && !isClosed(error)) return error;
  const ending = await child.ended.catch((cause: unknown) => cause);
  return acpFailure("acp-ended", "The program of the agent ended before its prompt did.", {
    cause: error,
    data:
      typeof ending === "object" && ending !== null && "code" in ending ? { exitCode: Number(ending.code ?? -1) } : {},
  });
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && /clos|end/i.test(error.message);
}
