import type { EngineHarness } from "./engine-harness.ts";

/** Everything the store holds of anything, and everything that was asked of it, as text to look for secrets in. */
export async function everythingStored(harness: EngineHarness): Promise<string> {
  const { tasks } = await harness.shared.list({ scope: harness.scope(), limit: 100, artifacts: true });
  const all: unknown[] = [tasks, harness.store.commits];
  for (const { id } of tasks) {
    all.push(
      await harness.shared.log(id, 0, Number.POSITIVE_INFINITY),
      await harness.shared.inbox(id),
      await harness.shared.steps(id),
    );
  }
  return JSON.stringify(all);
}
