import type { Part } from "../../protocol/part.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import type { QuestionHost } from "./context-host.ts";
import type { Remembered } from "./memory.ts";
import type { Question } from "./open-questions.ts";

export type Asked = Extract<Remembered, { kind: "asked" }>;

/** What is said of an answer that was sealed with a secret which is not known any more. */
export const UNREADABLE = "It could not be read; please send it once more.";

interface Asking {
  /** Where the run remembers it. */
  readonly key: string;
  readonly until: number | undefined;
  /** The run waits for something of its own as well, so that somebody must be at work on the task. */
  readonly active?: boolean;
  /** The private half of the key the answer may be encrypted to, sealed. */
  readonly box?: string | undefined;
}

/** Shows the question and remembers, in the same commit, that it was asked and that the task waits. Resolves after the commit. */
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
  waits.pause(until, { active });
  await writer.flush();
  // Messages that are there by now were sent before anybody could see the question.
  question.before = waitingIds(writer);
  return asked;
}

/** A question that is asked once more says why. */
export function withProblem(question: readonly Part[], problem: string | undefined): readonly Part[] {
  return problem === undefined ? question : [{ text: `That answer does not fit: ${problem}\n` }, ...question];
}

export function waitingIds(writer: TaskLogWriter): string[] {
  return writer.inbox.filter((entry) => entry.kind === "message").map((entry) => entry.id);
}
