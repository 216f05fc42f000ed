import { createHash } from "node:crypto";
import type { TaskId } from "../../protocol/ids.ts";
import type { Hint } from "../contract.ts";

/** Logs are spread over this many subjects. A node subscribes to those of the tasks that it watches. All nodes must use the same number. */
const SHARDS = 256;
/** Bytes of one message. Servers accept 1 MB by default. */
const MAX_BYTES = 256 * 1024;

/** A message to publish. */
export interface Publication {
  readonly subject: string;
  readonly payload: string;
}

/** The names of the subjects of one store. Several stores may use the same NATS server. */
export class Subjects {
  readonly #prefix: string;

  /** `name`: any text that all nodes of the store, and no others, have in common. */
  constructor(name: string) {
    this.#prefix = `palaver.${digest(name).slice(0, 16)}`;
  }

  /** For the nodes that watch a task of the same shard. */
  log(task: TaskId): string {
    return `${this.#prefix}.log.${Number.parseInt(digest(task).slice(0, 8), 16) % SHARDS}`;
  }

  /** For one node. */
  inbox(node: string): string {
    return `${this.#prefix}.inbox.${digest(node).slice(0, 32)}`;
  }

  /** For all nodes. */
  due(): string {
    return `${this.#prefix}.due`;
  }

  /** The hints as messages: JSON arrays of `[task, seq]` for logs, `[task, node]` for inboxes, and `[]` for tasks that are due. */
  publications(hints: Iterable<Hint>): readonly Publication[] {
    const bySubject = new Map<string, string[]>();
    for (const hint of hints) {
      const { subject, item } = this.#addressed(hint);
      const text = JSON.stringify(item);
      const texts = bySubject.get(subject);
      if (texts === undefined) bySubject.set(subject, [text]);
      else texts.push(text);
    }
    return [...bySubject].flatMap(([subject, texts]) => payloadsOf(texts).map((payload) => ({ subject, payload })));
  }

  #addressed(hint: Hint): { readonly subject: string; readonly item: readonly unknown[] } {
    switch (hint.kind) {
      case "log":
        return { subject: this.log(hint.task), item: [hint.task, hint.seq] };
      case "inbox":
        return { subject: this.inbox(hint.node), item: [hint.task, hint.node] };
      case "due":
        return { subject: this.due(), item: [] };
    }
  }
}

function payloadsOf(texts: readonly string[]): readonly string[] {
  const payloads: string[] = [];
  let page: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    if (page.length > 0 && bytes + text.length * 3 > MAX_BYTES) {
      payloads.push(`[${page.join()}]`);
      page = [];
      bytes = 0;
    }
    page.push(text);
    bytes += text.length * 3; // A character has at most three bytes.
  }
  payloads.push(`[${page.join()}]`);
  return payloads;
}

/** The hints of a message. Anything else in it is left out: another program, or another release, may use the subject. */
export function readHints(payload: string): readonly Hint[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload);
  } catch {
    return [];
  }
  return Array.isArray(parsed) ? parsed.flatMap((item: unknown) => hintOf(item) ?? []) : [];
}

function hintOf(item: unknown): Hint | undefined {
  if (!Array.isArray(item)) return undefined;
  if (item.length === 0) return { kind: "due" };
  const [task, what] = item as readonly unknown[]; // Safe: an array of anything.
  if (typeof task !== "string") return undefined;
  const id = task as TaskId; // Safe: ids are opaque; a task that does not exist is ignored.
  if (typeof what === "number") return { kind: "log", task: id, seq: what };
  return typeof what === "string" ? { kind: "inbox", task: id, node: what } : undefined;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
