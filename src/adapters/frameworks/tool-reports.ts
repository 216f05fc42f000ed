import type { TaskContext } from "../../engine/agent/agent.ts";
import type { FrameworkEvent } from "./framework.ts";

/** A report of a tool call (`call`) or of its outcome (`result`), as it is stored. */
export interface ToolReport {
  readonly kind: "call" | "result";
  readonly id: string;
}

type ToolEvent = Extract<FrameworkEvent, { readonly kind: "tool-call" | "tool-result" | "tool-failure" }>;

const MAX_ID = 200;
const MAX_NAME = 256;

/**
 * Reports the tool calls of a turn. The ids come from a model, so they may repeat: a call under an id whose earlier call has a result is reported
 * under an id of its own.
 */
export class ToolReports {
  readonly #task: TaskContext;
  readonly #isShown: boolean;
  /** How many calls each id had. */
  readonly #calls = new Map<string, number>();
  /** Ids of the calls without a result. */
  readonly #open = new Set<string>();

  constructor(task: TaskContext, isShown: boolean) {
    this.#task = task;
    this.#isShown = isShown;
  }

  /** Reports the event. Returns what is to be stored; `undefined` if there was nothing to report. */
  async report(event: ToolEvent): Promise<ToolReport | undefined> {
    const report: ToolReport = { kind: event.kind === "tool-call" ? "call" : "result", id: event.id.slice(0, MAX_ID) };
    if (!this.restore(report)) return undefined;
    if (!this.#isShown) return report;
    const id = this.#shownId(report.id);
    if (event.kind === "tool-call")
      await this.#task.toolCall({ id, name: event.name.slice(0, MAX_NAME) || "(no name)", input: event.input });
    else if (event.kind === "tool-result") await this.#task.toolResult({ id, output: event.output });
    else await this.#task.toolResult({ id, error: event.error });
    return report;
  }

  /** Accounts for a report of this or of an earlier attempt. False: the call was reported before, or the result belongs to no call. */
  restore({ kind, id }: ToolReport): boolean {
    if (kind === "result") return this.#open.delete(id);
    if (this.#open.has(id)) return false;
    this.#open.add(id);
    this.#calls.set(id, (this.#calls.get(id) ?? 0) + 1);
    return true;
  }

  #shownId(id: string): string {
    const count = this.#calls.get(id) ?? 1;
    const shown = id === "" ? "call" : id;
    return count === 1 ? shown : `${shown}#${count}`;
  }
}
