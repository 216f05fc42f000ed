import { plainState, textOf } from "../event-line.ts";
import type { Write } from "../journal.ts";
import type { TaskPlan } from "../plan.ts";
import type { Dialect } from "./dialects.ts";
import { callUntilAnswered } from "./http.ts";
import type { Pending } from "./pending.ts";

export interface ConversationOptions {
  readonly url: string;
  readonly dialect: Dialect;
  readonly journal: Write;
  readonly plan: TaskPlan;
  readonly pending: Pending;
  readonly signal: AbortSignal;
}

/**
 * The caller's side of a running task: answers, messages, a cancel. Reacts to the events that a reader of the stream
 * passes on.
 */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #work: Promise<void>[] = [];
  readonly #answered: Promise<void>[] = [];
  #taskId: string | undefined;
  #lines = 0;
  #messages = 0;
  /** Questions are answered by another component. */
  readonly #answers: boolean;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#answers = options.plan.sending !== "own-client";
  }

  begin(taskId: string): void {
    this.#taskId = taskId;
    const { journal, plan } = this.#options;
    journal({ kind: "sent", task: plan.name, taskId });
    if (this.#lines > 0) this.#cancelWhenDue();
  }

  hear(line: string): void {
    this.#lines += 1;
    const wanted = /^status working "send (\d+)"$/.exec(line)?.[1];
    for (let count = 0; count < Number(wanted ?? 0); count++) void this.#start("a message", () => this.#say());
    const asked = /^status input-required "question (\d+)"$/.exec(line)?.[1];
    if (asked !== undefined && this.#answers) this.#answer(Number(asked));
    this.#cancelWhenDue();
  }

  /** Resolves when all messages were acknowledged or refused. */
  async finished(): Promise<void> {
    await Promise.all(this.#work);
  }

  /** The text of the answer to a question, for a component that sends it itself. */
  answerFor(question: string): string {
    const { journal, plan } = this.#options;
    const text = `${plan.name}/own/${question.replaceAll(" ", "-")}`;
    journal({ kind: "said", task: plan.name, text });
    return text;
  }

  /** Like a caller that continues when its send returns: sends only after the earlier answers have returned. */
  #answer(question: number): void {
    const { waits = false, twice = false } = this.#options.plan.answers[question - 1] ?? {};
    const before = [...this.#answered];
    const start = (what: string, copy: number): void => {
      const work = this.#start(`${what} to question ${question}`, async () => {
        await Promise.all(before);
        await this.#reply({ question, waits, copy });
      });
      this.#answered.push(work);
    };
    start("the answer", 1);
    if (twice) start("the second answer", 2);
  }

  async #reply({ question, waits, copy }: { question: number; waits: boolean; copy: number }): Promise<void> {
    const { journal, plan } = this.#options;
    const begun = Date.now();
    const task = await this.#send(`${plan.name}/answer-${question}-${copy}`, waits);
    if (task === undefined || !waits) return;
    const { state, message } = task.status;
    const text = textOf(message?.parts);
    journal({ kind: "answered", task: plan.name, begun, question, state: plainState(state), text });
  }

  async #say(): Promise<void> {
    const { plan } = this.#options;
    this.#messages += 1;
    await this.#send(`${plan.name}/message-${this.#messages}`, false);
  }

  /** Sends one message, whose text is its id, until it is answered. `undefined`: the task has ended. */
  async #send(text: string, waits: boolean) {
    const { url, dialect, journal, plan, signal } = this.#options;
    const call = dialect.send({ messageId: text, text, taskId: this.#taskId ?? "" }, { waits });
    journal({ kind: "saying", task: plan.name, text });
    const outcome = await callUntilAnswered(url, call, { dialect, signal });
    if (outcome.kind === "task") {
      journal({ kind: "said", task: plan.name, text });
      return outcome.task;
    }
    journal({ kind: "refused", task: plan.name, text, why: outcome.why });
    return undefined;
  }

  #cancelWhenDue(): void {
    const { cancelAfter } = this.#options.plan;
    if (this.#taskId === undefined || this.#lines !== cancelAfter) return;
    void this.#start("the cancel", () => this.#cancel());
  }

  async #cancel(): Promise<void> {
    const { url, dialect, journal, plan, signal } = this.#options;
    const outcome = await callUntilAnswered(url, dialect.cancel(this.#taskId ?? ""), { dialect, signal });
    const isCanceled = outcome.kind === "task" && plainState(outcome.task.status.state) === "canceled";
    journal({ kind: "canceled", task: plan.name, outcome: isCanceled ? "canceled" : "too-late" });
  }

  #start(what: string, work: () => Promise<void>): Promise<void> {
    const { pending, plan } = this.#options;
    const done = pending.track(plan.name, what, work);
    this.#work.push(done);
    return done;
  }
}
