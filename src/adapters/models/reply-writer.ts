import type { TaskContext } from "../../engine/agent/agent.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import { REASONING_METADATA } from "../../protocol/artifact.ts";
import { ContinuedText } from "./continued-text.ts";
import type { ModelFileData } from "./model-contract.ts";

/** What callers see of the model's answers. */
export interface ReplyVisibility {
  /** The text streams into the artifact `result`. */
  readonly text: boolean;
  /** The reasoning streams into the artifact `reasoning`. */
  readonly reasoning: boolean;
}

export interface ReplyPlace {
  readonly task: TaskContext;
  /** The number of the model call in its turn, from 1. */
  readonly call: number;
  /** What earlier calls have written. */
  readonly before: { readonly text: string; readonly reasoning: string };
}

/** Characters of base64. An event may have 4 MB. */
const MAX_FILE = 3_500_000;
const MAX_FILES = 8;

/** Writes one model call for its readers: text, reasoning and files. A call may have several tries. */
export class ReplyWriter {
  readonly text: ContinuedText;
  readonly reasoning: ContinuedText;
  readonly #place: ReplyPlace;
  #files = 0;

  constructor(place: ReplyPlace, visible: ReplyVisibility) {
    const { task, before } = place;
    this.#place = place;
    this.text = new ContinuedText(visible.text ? task.artifact("result") : undefined, before.text);
    const reasoning = task.artifact("reasoning", { metadata: REASONING_METADATA });
    this.reasoning = new ContinuedText(visible.reasoning ? reasoning : undefined, before.reasoning);
  }

  /** How many files this try has produced. */
  get files(): number {
    return this.#files;
  }

  begin(): void {
    this.text.begin();
    this.reasoning.begin();
    this.#files = 0;
  }

  async end(): Promise<void> {
    await this.reasoning.end();
    await this.text.end();
  }

  /** A file becomes an artifact of its own, so that a repeated call replaces it. */
  async file(mediaType: string, data: ModelFileData): Promise<void> {
    if (this.#files >= MAX_FILES) throw tooLarge(`more than ${MAX_FILES} files`);
    const { call, task } = this.#place;
    this.#files++;
    const artifact = task.artifact(`file-${call}.${this.#files}`);
    if (data.type === "url") return artifact.replace({ url: String(data.url), mediaType });
    const raw = typeof data.data === "string" ? data.data : Buffer.from(data.data).toString("base64");
    if (raw.length > MAX_FILE) throw tooLarge(`a file of more than ${MAX_FILE} characters of base64`);
    await artifact.replace({ raw, mediaType });
  }
}

function tooLarge(what: string): TaskFailure {
  return new TaskFailure(`The model's answer has ${what}.`, { code: "model-output-too-large" });
}
