import type { AgentCard, Message } from "a2a-sdk-v0_3";
import { Cancellations, type Pace, perform, type ScriptedState, type Teller } from "../agent-script.ts";
import type { Profile } from "../server-line.ts";

interface Turn {
  readonly taskId: string;
  readonly contextId: string;
  readonly userMessage: Message;
  readonly task?: unknown;
}

/** The events of 0.2 and 0.3 have `kind`, and are the same otherwise. */
interface Bus {
  publish(event: never): void;
  finished(): void;
}

interface Executor {
  execute(turn: Turn, bus: Bus): Promise<void>;
  cancelTask(taskId: string): Promise<void>;
}

/** The scripted agent for servers of 0.2 and 0.3. */
export function kindedExecutor(pace: Pace | undefined): Executor {
  const cancellations = new Cancellations();
  return {
    execute: (turn, bus) => perform(kindedTeller(turn, bus, cancellations.of(turn.taskId).promise), pace),
    async cancelTask(taskId) {
      cancellations.of(taskId).resolve();
    },
  };
}

const LAST: ReadonlySet<ScriptedState> = new Set(["input-required", "completed", "failed", "rejected", "canceled"]);

function kindedTeller({ taskId, contextId, userMessage, task }: Turn, bus: Bus, canceled: Promise<void>): Teller {
  // Unchecked cast: both versions accept these events, but share no type for them.
  const publish = (event: object): void => bus.publish(event as never);
  const message = (text: string) => ({
    kind: "message",
    role: "agent",
    messageId: crypto.randomUUID(),
    parts: [{ kind: "text", text }],
    contextId,
  });
  const artifact = (parts: readonly unknown[], append: boolean): void =>
    publish({ kind: "artifact-update", taskId, contextId, append, artifact: { artifactId: "answer", parts } });
  return {
    said: userMessage.parts.map((part) => (part.kind === "text" ? part.text : "")).join(""),
    isNew: task === undefined,
    canceled,
    openTask: () =>
      publish({
        kind: "task",
        id: taskId,
        contextId,
        status: { state: "submitted", timestamp: new Date().toISOString() },
        history: [userMessage],
        artifacts: [],
      }),
    status: (state, text) =>
      publish({
        kind: "status-update",
        taskId,
        contextId,
        final: LAST.has(state),
        status: {
          state,
          timestamp: new Date().toISOString(),
          ...(text !== undefined && { message: { ...message(text), taskId } }),
        },
      }),
    piece: (text, append) => artifact([{ kind: "text", text }], append),
    echo: () => artifact(userMessage.parts, false),
    message: (text) => publish(message(text)),
    finish: () => bus.finished(),
  };
}

/** The card of an agent of these versions. */
export function kindedCard(
  profile: Profile,
  at: Pick<AgentCard, "protocolVersion" | "url" | "preferredTransport">,
): AgentCard {
  const isAble = profile === "able";
  return {
    name: "Peer",
    description: "Follows a script.",
    version: "1.0.0",
    ...at,
    capabilities: { streaming: profile !== "bare", pushNotifications: isAble },
    ...((isAble || profile === "unprepared") && { supportsAuthenticatedExtendedCard: true }),
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  };
}
