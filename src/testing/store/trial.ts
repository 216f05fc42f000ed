import type { Retention, Store } from "../../store/contract.ts";
import { START } from "../store-operations.ts";
import type { OpenedStore, OpenStore, StoreTrial } from "./store-case.ts";

/** Runs a case with fresh stores and closes them afterwards. */
export async function withTrial(open: OpenStore, run: (trial: StoreTrial) => Promise<void>): Promise<void> {
  const clock = { now: START };
  const opened: OpenedStore[] = [];
  const handles: Store[] = [];
  const openWith = async (retention: Retention): Promise<OpenedStore> => {
    const result = await open({ retention, now: () => clock.now });
    const entry = "commit" in result ? { store: result } : result;
    opened.push(entry);
    handles.push(entry.store);
    return entry;
  };
  const settle = async (): Promise<void> => {
    for (const entry of opened) await entry.settle?.();
  };
  try {
    const first = await openWith({});
    const second = (await first.openSecond?.()) ?? first.store;
    handles.push(second);
    await run({
      store: first.store,
      second,
      clock,
      open: async (retention) => (await openWith(retention)).store,
      settle,
    });
  } finally {
    await Promise.all(handles.map((store) => store.close()));
  }
}
