import type { Part } from "../../../protocol/part.ts";
import type { TaskLogWriter } from "../../log/task-log-writer.ts";
import type { QuestionHost } from "../context-host.ts";
import type { Remembered } from "../memory.ts";
import type { Question } from "./open-questions.ts";

export type Asked = Extract<Remembered, { kind: "asked" }>;

/** The problem of an answer that was sealed with a secret that is not known any more. */
export const UNREADABLE = "The answer could not be read; please send it again.";

interface Asking {
  /** The key under which the question is stored. */
  readonly key: string;
  /** When the wait for an answer ends; milliseconds since 1970. */
  readonly until: number | undefined;
  /** The run also waits for something in this process, so a node must be running the task. */
  readonly active?: boolean;
  /** The sealed private key. Callers may encrypt the answer with its public key. */
  readonly box?: string | undefined;
}

/** Shows the question to callers and stores, in the same commit, that it was asked and that the task waits. Resolves after the commit. */
export async function openQuestion(host: QuestionHost, question: Question, asking: Asking): Promise<Asked> {
  const { memory, writer, waits, questions } = host;
  const { until, active = false, box } = asking;
  await questions.open(question);
  host.requireOpen();
  const asked: Asked = {
    kind: "asked",
    id: question.id,
    ...(until !== undefined && { until }),
    ...(box !== undefined && { box }),
  };
  memory.remember(asking.key, asked);
  host.run.observer.opened("question", asking.key);
  waits.pause(until, { active });
  await writer.flush();
  return asked;
}

/** The parts of a question, preceded by the problem of the last answer. */
export function withProblem(question: readonly Part[], problem: string | undefined): readonly Part[] {
  return problem === undefined ? question : [{ text: `That answer is not valid: ${problem}\n` }, ...question];
}

/** The ids of the messages in the inbox. */
export function waitingIds(writer: TaskLogWriter): string[] {
  return writer.inbox.filter((entry) => entry.kind === "message").map((entry) => entry.id);
}
