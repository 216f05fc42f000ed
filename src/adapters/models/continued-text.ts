import type { TaskContext } from "../../engine/agent/agent.ts";

/** Characters of one chunk. A longer delta is divided. */
const MAX_CHUNK = 32 * 1024;

/**
 * The streamed text of one model call. If the call is cut off and made again, equal text continues without a gap or a repetition, and different text
 * replaces what was written since `before`.
 */
export class ContinuedText {
  readonly #task: TaskContext;
  /** The text of the result before this call. */
  readonly #before: string;
  /** What readers have received of this call. */
  #written = "";
  /** What the current try has produced. */
  #text = "";

  constructor(task: TaskContext, before: string) {
    this.#task = task;
    this.#before = before;
  }

  get text(): string {
    return this.#text;
  }

  /** A new try begins. */
  begin(): void {
    this.#text = "";
  }

  async write(delta: string): Promise<void> {
    this.#text += delta;
    // The same text again: readers have it.
    if (this.#written.startsWith(this.#text)) return;
    if (!this.#text.startsWith(this.#written)) return this.#replace();
    await this.#append(this.#text.slice(this.#written.length));
  }

  /** The try has ended. If it produced less than an earlier one, the rest is removed. */
  async end(): Promise<void> {
    if (this.#written !== this.#text) await this.#replace();
  }

  async #replace(): Promise<void> {
    this.#written = this.#text;
    await this.#task.artifact("result").replace(this.#before + this.#text);
  }

  async #append(text: string): Promise<void> {
    for (let at = 0; at < text.length; at += MAX_CHUNK) await this.#task.write(text.slice(at, at + MAX_CHUNK));
    this.#written = this.#text;
  }
}
