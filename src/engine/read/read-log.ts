import { nextTurn } from "../../internal/next-turn.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { LogEntry, Store } from "../../store/contract.ts";

const PAGE_BYTES = 1024 * 1024;

/**
 * Thrown where a log no longer holds what is to be read of it: since the task was read, its log was dropped, or the whole task deleted. Read
 * the task again.
 */
export class LogDropped extends Error {
  override readonly name = "LogDropped";
}

/**
 * All entries after `after` up to and including `upTo`, which must have been committed, page by page. Other work gets its turn between pages:
 * a store may answer at once, and a long log must not keep the process from everything else. Throws {@link LogDropped}.
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
    if (page[0]?.seq !== after + 1) throw new LogDropped(`The events of ${id} after ${after} are no longer kept.`);
    for (const entry of page) {
      if (entry.seq > range.upTo) return;
      yield entry;
      after = entry.seq;
    }
  }
}
