import type { EngineHarness } from "./engine-harness.ts";

/** All stored data and all committed operations as one text, so a test can search it for secrets. */
export async function everythingStored(harness: EngineHarness): Promise<string> {
  const { tasks } = await harness.shared.list({ scope: harness.scope(), limit: 100, artifacts: true });
  const all: unknown[] = [tasks, harness.store.commits];
  for (const { id } of tasks) {
    all.push(
      await harness.shared.log(id, 0, Number.POSITIVE_INFINITY),
      await harness.shared.inbox(id),
      await harness.shared.steps(id),
      await harness.shared.journal(id),
    );
  }
  return JSON.stringify(all);
}
