import type { ArtifactWriter } from "../../engine/agent/agent.ts";

/** Characters of one chunk. A longer delta is divided. */
const MAX_CHUNK = 32 * 1024;

/**
 * The streamed text of one model call. If the call is cut off and made again, equal text continues without a gap or a repetition, and different text
 * replaces what was written since `before`.
 */
export class ContinuedText {
  /** Absent: the text is only collected. */
  readonly #artifact: ArtifactWriter | undefined;
  /** The text of the artifact before this call. */
  readonly #before: string;
  /** What readers have received of this call. */
  #written = "";
  /** What the current try has produced. */
  #text = "";

  constructor(artifact: ArtifactWriter | undefined, before: string) {
    this.#artifact = artifact;
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
    if (this.#artifact === undefined || this.#written.startsWith(this.#text)) return;
    if (!this.#text.startsWith(this.#written)) return this.#replace(this.#artifact);
    const added = this.#text.slice(this.#written.length);
    for (let at = 0; at < added.length; at += MAX_CHUNK) await this.#artifact.write(added.slice(at, at + MAX_CHUNK));
    this.#written = this.#text;
  }

  /** The try has ended. If it produced less than an earlier one, the rest is removed. */
  async end(): Promise<void> {
    if (this.#artifact !== undefined && this.#written !== this.#text) await this.#replace(this.#artifact);
  }

  async #replace(artifact: ArtifactWriter): Promise<void> {
    this.#written = this.#text;
    await artifact.replace(this.#before + this.#text);
  }
}
