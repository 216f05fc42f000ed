import type { RemoteStream, RemoteStreamEvent } from "../../client/api.ts";
import { oneLine, plainText } from "../../internal/terminal-text.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import { MarkdownWriter } from "../output/markdown.ts";
import type { Session } from "./session.ts";

/**
 * Prints the answer to one message while it arrives: text as Markdown if the output is a terminal, files and data as one line each. Resolves with the task, if there is one.
 * `onTask` gets it as soon as it is known.
 */
export async function showTurn(
  session: Session,
  stream: RemoteStream,
  onTask: (task: Task) => void = () => {},
): Promise<Task | undefined> {
  const printer = new TurnPrinter(session);
  let task: Task | undefined;
  for await (const event of stream) {
    if (event.kind !== "message") {
      task = event.task;
      session.about(task);
      onTask(task);
    }
    await printer.event(event);
  }
  await printer.end(task);
  return task;
}

class TurnPrinter {
  readonly #session: Session;
  readonly #markdown: MarkdownWriter | undefined;
  #isLineOpen = false;
  /** What the agent said last about its work: tasks repeat it. */
  #note = "";

  constructor(session: Session) {
    this.#session = session;
    const { stdout, env } = session.context;
    const isPlain = !stdout.isTTY || Boolean(env["NO_COLOR"]) || env["TERM"] === "dumb";
    this.#markdown = isPlain ? undefined : new MarkdownWriter();
  }

  async event(event: RemoteStreamEvent): Promise<void> {
    if (event.kind === "message") await this.#parts(event.message.parts);
    else if (event.kind === "artifact") {
      // The artifact begins, or begins again.
      if (!event.append) await this.closeLine();
      await this.#parts(event.artifact.parts);
    } else if (event.kind === "status" && event.status.state === "working") {
      await this.#say(textOf(event.status.message?.parts ?? []));
    }
  }

  /** What the agent says at its end, or its question. */
  async end(task: Task | undefined): Promise<void> {
    await this.closeLine();
    if (task === undefined) return;
    const { state, message } = task.status;
    const said = textOf(message?.parts ?? []);
    if (isInterrupted(state) || state === "completed") await this.#say(said);
    else if (isTerminal(state)) await this.#say(`${ENDINGS[state]}${said === "" ? "." : `: ${said}`}`);
  }

  async closeLine(): Promise<void> {
    await this.#write(this.#markdown?.end() ?? "");
    if (this.#isLineOpen) await this.#write("\n");
  }

  async #parts(parts: readonly Part[]): Promise<void> {
    for (const part of parts) {
      if (part.text !== undefined && part.filename === undefined) await this.#text(part.text);
      else await this.#line(described(part));
    }
  }

  async #text(text: string): Promise<void> {
    const plain = plainText(text);
    await this.#write(this.#markdown?.feed(plain) ?? plain);
  }

  async #line(text: string): Promise<void> {
    await this.closeLine();
    await this.#write(`${text}\n`);
  }

  async #say(text: string): Promise<void> {
    if (text === "" || text === this.#note) return;
    this.#note = text;
    await this.closeLine();
    await this.#session.note(text);
  }

  async #write(text: string): Promise<void> {
    if (text === "") return;
    await this.#session.progress.clear();
    this.#isLineOpen = !text.endsWith("\n");
    await this.#session.context.stdout.write(text);
  }
}

const ENDINGS = {
  completed: "The task is completed",
  failed: "The task failed",
  canceled: "The task was canceled",
  rejected: "The agent rejected the task",
} as const;

/** A part that is not plain text, in one line. */
function described({ text, raw, url, data, filename, mediaType }: Part): string {
  if (data !== undefined) return plainText(JSON.stringify(data, undefined, 2));
  const size = raw === undefined ? Buffer.byteLength(text ?? "") : Buffer.byteLength(raw, "base64");
  const facts = [filename ?? "file", ...(mediaType === undefined ? [] : [mediaType]), url ?? `${size} bytes`];
  return oneLine(`[${facts.join(", ")}]`);
}
