import { nextTurn } from "../../internal/next-turn.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { LogEntry, Store } from "../../store/contract.ts";

const PAGE_BYTES = 1024 * 1024;

/**
 * The log does not contain the requested events any more: since the task was read, its log was dropped or the task was deleted. Read the task
 * again.
 */
export class LogDropped extends Error {
  override readonly name = "LogDropped";
}

/**
 * Reads the entries after `after`, up to and including `upTo`, which must be committed. Reads pages of 1 MB and lets the event loop turn between
 * them, so that a long log does not block the process. Throws {@link LogDropped}.
 */
export async function* readLog(
  store: Store,
  id: TaskId,
  range: { after: number; upTo: number },
): AsyncGenerator<LogEntry> {
  let { after } = range;
  for (let pages = 0; after < range.upTo; pages++) {
    if (pages > 0) await nextTurn();
    const page = await store.log(id, after, PAGE_BYTES);
    if (page[0]?.seq !== after + 1)
      throw new LogDropped(`The events of task ${id} after seq ${after} are no longer stored.`);
    for (const entry of page) {
      if (entry.seq > range.upTo) return;
      yield entry;
      after = entry.seq;
    }
  }
}
