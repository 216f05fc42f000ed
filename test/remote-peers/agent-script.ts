/** The interface between the scripted agent and its server, implemented for every server library. */
export interface Teller {
  /** The text of the message. */
  readonly said: string;
  /** True if no earlier turn created the task. */
  readonly isNew: boolean;
  openTask(): void;
  status(state: ScriptedState, text?: string): void;
  /** Writes a chunk of the artifact. */
  piece(text: string, append: boolean): void;
  /** Writes an artifact with all received parts. */
  echo(): void;
  /** Answers with a bare message instead of a task. */
  message(text: string): void;
  finish(): void;
  /** Resolves when a caller cancels the task. */
  readonly canceled: Promise<void>;
}

export type ScriptedState = "working" | "input-required" | "completed" | "failed" | "rejected" | "canceled";

/** Called before each chunk of a long answer: the agent continues when it resolves. */
export type Pace = (index: number) => Promise<void> | void;

const MESSAGE = "message";

/** The agent behind all official servers: follows the command in the text, and returns any other input. */
export async function perform(teller: Teller, pace: Pace = nextTick): Promise<void> {
  const { said } = teller;
  if (said === MESSAGE) {
    teller.message("just a message");
    teller.finish();
    return;
  }
  if (said === "break early") throw new Error("no task yet");
  if (teller.isNew) teller.openTask();
  teller.status("working");
  await act(teller, pace);
  teller.finish();
}

async function act(teller: Teller, pace: Pace): Promise<void> {
  const [word = "", argument = ""] = teller.said.split(" ");
  switch (word) {
    case "ask":
      return teller.status("input-required", "which one?");
    case "fail":
      return teller.status("failed", "no luck");
    case "reject":
      return teller.status("rejected", "not with me");
    case "break":
      throw new Error("out of order");
    case "hang":
      await teller.canceled;
      return teller.status("canceled");
    case "chunks":
      for (let index = 0; index < Number(argument); index++) {
        teller.piece(`${index};`, index > 0);
        await pace(index);
      }
      return teller.status("completed");
    default:
      teller.echo();
      teller.status("completed");
  }
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The text of that many chunks. */
export function chunks(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index};`).join("");
}

/** Cancel requests by task. */
export class Cancellations {
  readonly #wanted = new Map<string, PromiseWithResolvers<void>>();

  of(taskId: string): PromiseWithResolvers<void> {
    const known = this.#wanted.get(taskId) ?? Promise.withResolvers<void>();
    this.#wanted.set(taskId, known);
    return known;
  }
}
