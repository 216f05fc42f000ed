/** What an agent tells its server, in words that every line of servers has its own for. */
export interface Teller {
  /** The text it was told. */
  readonly said: string;
  /** No earlier turn made the task. */
  readonly isNew: boolean;
  openTask(): void;
  status(state: ScriptedState, text?: string): void;
  /** A piece of the one artifact. */
  piece(text: string, append: boolean): void;
  /** An artifact of all the parts it was told. */
  echo(): void;
  /** A bare message, instead of a task. */
  message(text: string): void;
  finish(): void;
  /** Resolves when somebody wants the task to be canceled. */
  readonly canceled: Promise<void>;
}

export type ScriptedState = "working" | "input-required" | "completed" | "failed" | "rejected" | "canceled";

/** Called before each piece of a long answer: the agent goes on when it has resolved. */
export type Pace = (index: number) => Promise<void> | void;

const MESSAGE = "message";

/** The one agent of all official servers: does what the text tells it to, and gives back what it does not understand. */
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

/** What so many chunks add up to. */
export function chunks(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index};`).join("");
}

/** Who wants which task to be canceled. */
export class Cancellations {
  readonly #wanted = new Map<string, PromiseWithResolvers<void>>();

  of(taskId: string): PromiseWithResolvers<void> {
    const known = this.#wanted.get(taskId) ?? Promise.withResolvers<void>();
    this.#wanted.set(taskId, known);
    return known;
  }
}
