import type { TaskId } from "../protocol/ids.ts";
import type { LogEntry, Store } from "../store/contract.ts";

const PAGE_BYTES = 1024 * 1024;

/**
 * Thrown where a log no longer holds what is to be read of it: since the task was read, its log was dropped, or the whole task deleted. Read
 * the task again.
 */
export class LogDropped extends Error {
  override readonly name = "LogDropped";
}

/** All entries after `after` up to and including `upTo`, which must have been committed, page by page. Throws {@link LogDropped}. */
export async function* readLog(
  store: Store,
  id: TaskId,
  range: { after: number; upTo: number },
): AsyncGenerator<LogEntry> {
  let { after } = range;
  while (after < range.upTo) {
    const page = await store.log(id, after, PAGE_BYTES);
    if (page[0]?.seq !== after + 1) throw new LogDropped(`The events of ${id} after ${after} are no longer kept.`);
    for (const entry of page) {
      if (entry.seq > range.upTo) return;
      yield entry;
      after = entry.seq;
    }
  }
}
