import type { Message } from "../../protocol/message.ts";
import type { InboxEntry } from "../../store/contract.ts";
import type { CallHost } from "./context-host.ts";
import { TIMED_OUT } from "./waits.ts";

export interface NextOptions {
  /** False: do not wait. Default: true. */
  readonly wait?: boolean;
  readonly name?: string;
  /** Stops the wait when aborted. */
  readonly signal?: AbortSignal;
}

/** Consumes the next message in the inbox that answers no question. `undefined`: there is none, or the signal was aborted. */
export async function nextMessage(host: CallHost, options: NextOptions): Promise<Message | undefined> {
  const { memory, writer, turn, run } = host;
  const { wait, name = "", signal } = options;
  const key = memory.key("next", name);
  const known = memory.recall(key);
  const stored = known?.kind === "message" ? memory.openMessage(known) : undefined;
  if (stored !== undefined) {
    if (known?.kind === "message" && known.sealed !== true) turn.history.push(stored);
    return stored;
  }
  if (known?.kind === "nothing") return undefined;
  const poll = (): InboxEntry | undefined =>
    writer.inbox.find((entry) => entry.kind === "message" && !run.questions().isAnswer(entry));
  for (;;) {
    const entry = wait === false ? poll() : await run.waits().wait({ poll, signal, pauses: false, parks: false });
    host.requireOpen();
    // Not stored: after an abort, a replay may wait again.
    if (entry === TIMED_OUT && signal !== undefined) return undefined;
    if (entry === undefined || entry === TIMED_OUT) {
      memory.remember(key, { kind: "nothing" });
      return undefined;
    }
    const message = run.openEntry(entry);
    writer.consume(entry, entry.sealed ? undefined : message);
    // Skip a message that cannot be decrypted any more.
    if (message === undefined) continue;
    memory.remember(key, memory.messageRecord(message, entry.sealed));
    if (!entry.sealed) turn.history.push(message);
    await writer.flush();
    return message;
  }
}
