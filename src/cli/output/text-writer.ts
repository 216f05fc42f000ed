import { oneLine, plainText } from "../../internal/terminal-text.ts";
import type { Sink } from "../context.ts";

/**
 * Text that programs can parse: fields, one `Label: value` per line, and blocks: a line `Label:`, the content and an empty line. Within a block, an empty
 * line has one space, so only the end of the block is empty. A block may stay open and grow; any other output closes it.
 */
export class TextWriter {
  readonly #sink: Sink;
  #open: { readonly key: string; atLineStart: boolean } | undefined;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Line breaks in the value become spaces. */
  async field(label: string, value: string): Promise<void> {
    await this.close();
    await this.#sink.write(`${label}: ${oneLine(value)}\n`);
  }

  async block(label: string, content: string): Promise<void> {
    await this.grow({ key: "", label }, content);
    await this.close();
  }

  /** Appends to the open block with this key, or opens one. */
  async grow({ key, label }: { readonly key: string; readonly label: string }, content: string): Promise<void> {
    let text = "";
    if (this.#open?.key !== key) {
      await this.close();
      this.#open = { key, atLineStart: true };
      text = `${label}:\n`;
    }
    for (const [index, line] of plainText(content).split("\n").entries()) {
      if (index > 0) {
        text += this.#open.atLineStart ? " \n" : "\n";
        this.#open.atLineStart = true;
      }
      text += line;
      if (line !== "") this.#open.atLineStart = false;
    }
    await this.#sink.write(text);
  }

  /** Closes the open block. */
  async close(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    await this.#sink.write(open.atLineStart ? "\n" : "\n\n");
  }
}
