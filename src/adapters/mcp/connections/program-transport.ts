import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Child } from "../../process/children/child.ts";
import { createLineSplitter } from "../../process/lines/line-splitter.ts";
import { MessageTooLarge } from "./limited-fetch.ts";

export interface ProgramTransportOptions {
  readonly start: () => Child;
  /** Bytes of one message of the server. */
  readonly maxMessage: number;
  /** Reads a line. Throws if it is not a message. */
  readonly parse: (line: string) => JSONRPCMessage;
  /** Gets standard error, chunk by chunk. */
  readonly onErrorOutput: (chunk: Uint8Array) => void;
}

/**
 * MCP over the standard input and output of a program, which runs in its own process group and leaves nothing behind. Lines that are not messages are reported
 * and skipped, as servers print other things by mistake.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: ProgramTransportOptions;
  #child: Child | undefined;
  #isClosed = false;

  constructor(options: ProgramTransportOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { start, onErrorOutput } = this.#options;
    const child = start();
    this.#child = child;
    void child.readErrors(async (chunk) => onErrorOutput(chunk)).catch(() => {});
    const reading = this.#read(child).catch((error: unknown) => this.onerror?.(asError(error)));
    void reading.then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#child === undefined || this.#isClosed || this.#child.hasExited)
      throw new Error("The program of the MCP server has ended.");
    this.#child.write(`${JSON.stringify(message)}\n`);
  }

  /** Ends the program. Safe to call repeatedly. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.onclose?.();
    }
    await this.#child?.stop();
  }

  async #read(child: Child): Promise<void> {
    const { maxMessage } = this.#options;
    const lines = createLineSplitter(maxMessage);
    await child.readOutput(async (chunk) => {
      for (const line of splitLines(() => lines.add(chunk), maxMessage)) this.#receive(line);
    });
  }

  #receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = this.#options.parse(line);
    } catch (error) {
      this.onerror?.(asError(error));
      return;
    }
    this.onmessage?.(message);
  }
}

function splitLines(split: () => readonly string[], maxMessage: number): readonly string[] {
  try {
    return split();
  } catch (cause) {
    throw new MessageTooLarge(maxMessage, cause);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
