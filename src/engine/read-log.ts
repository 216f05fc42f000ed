import { nextTurn } from "../internal/next-turn.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { LogEntry, Store } from "../store/contract.ts";

const PAGE_BYTES = 1024 * 1024;

/**
 * All entries after `after` up to and including `upTo`, page by page; ends early where the log does. Other work gets its turn between pages:
 * a store may answer at once, and a long log must not keep the process from everything else.
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
    if (page.length === 0) return;
    for (const entry of page) {
      if (entry.seq > range.upTo) return;
      yield entry;
      after = entry.seq;
    }
  }
}
