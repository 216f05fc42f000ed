import type { TaskId } from "../protocol/ids.ts";
import type { LogEntry, Store } from "../store/contract.ts";

const PAGE_BYTES = 1024 * 1024;

/** All entries after `after` up to and including `upTo`, page by page. */
export async function* readLog(
  store: Store,
  id: TaskId,
  range: { after: number; upTo: number },
): AsyncGenerator<LogEntry> {
  let { after } = range;
  while (after < range.upTo) {
    const page = await store.log(id, after, PAGE_BYTES);
    if (page.length === 0) return;
    for (const entry of page) {
      if (entry.seq > range.upTo) return;
      yield entry;
      after = entry.seq;
    }
  }
}
