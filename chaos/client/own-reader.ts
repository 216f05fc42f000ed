import type { AgentClient } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import type { MessageId } from "../../src/protocol/ids.ts";
import { lineOf, pictureOf } from "../event-line.ts";
import type { Write } from "../journal.ts";
import type { Dialect } from "./dialects.ts";

export interface OwnReaderOptions {
  readonly agent: AgentClient;
  readonly journal: Write;
  readonly task: string;
  readonly reader: string;
  readonly text: string;
  readonly webhook: string | undefined;
  readonly signal: AbortSignal;
  readonly onTask: (taskId: string) => void;
  readonly onLine: (line: string) => void;
  /** Returns the answer to a question text. */
  readonly answer: (question: string) => string;
}

/** Connects our own client, with retries for a server that is down for seconds. Repeats until the card is available. */
export async function connectPatiently(url: string, { version, binding }: Dialect): Promise<AgentClient> {
  const retry = { attempts: 500, reconnects: 500, baseDelay: 40, maxDelay: 10_000 };
  for (;;) {
    try {
      return await connect(url, { version, binding, retry, timeout: 5000, poll: { first: 100, most: 500 } });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/**
 * Sends a message with our own client, follows the task to its end through all questions, and writes every event to the
 * journal.
 */
export async function readWithOwnClient(options: OwnReaderOptions): Promise<void> {
  const { agent, journal, task, reader, text, webhook, signal, onTask, onLine, answer } = options;
  // Unchecked cast: the names of the plan are unique.
  const message = { messageId: task as MessageId, role: "user" as const, parts: [{ text }] };
  const stream = agent.stream(message, {
    signal,
    ...(webhook !== undefined && { push: { url: webhook } }),
    onInput: ({ text: question }) => answer(question),
  });
  let known = false;
  for await (const event of stream) {
    if (!known && stream.task !== undefined && stream.task.id !== "") {
      known = true;
      onTask(stream.task.id);
    }
    if (event.kind === "message" || event.kind === "task") continue;
    const line = lineOf(event);
    journal({ kind: "event", task, reader, line });
    onLine(line);
  }
  const picture = stream.task === undefined ? {} : { picture: pictureOf(stream.task) };
  journal({ kind: "read-to-end", task, reader, ...picture });
}
