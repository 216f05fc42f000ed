import type { ReplayStore } from "./contract.ts";

/**
 * Remembers ids in this process, up to a limit; the oldest are forgotten first. A forgotten id is accepted again: with several processes,
 * or more notifications within `maxAge`, pass a shared `replays`.
 */
export function createMemoryReplays(most = 50_000, now: () => number = Date.now): ReplayStore {
  // In the order of arrival, which is nearly the order in which they expire.
  const known = new Map<string, number>();
  return {
    remember(id, until) {
      const before = known.get(id);
      const isKnown = before !== undefined && before >= now();
      known.delete(id);
      known.set(id, isKnown ? Math.max(before, until) : until);
      for (const [oldest, expires] of known) {
        if (expires >= now() && known.size <= most) break;
        known.delete(oldest);
      }
      return isKnown;
    },
  };
}
