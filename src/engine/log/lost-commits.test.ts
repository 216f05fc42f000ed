import { afterEach, describe, expect, test } from "vitest";
import type { CommitKey, Store } from "../../store/contract.ts";
import { StoreError } from "../../store/contract.ts";
import { StoreWrapper } from "../../store/store-wrapper.ts";
import { type EngineHarness, openHarness, scripted, turns } from "../../testing/engine-harness.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

const lost = (): StoreError => new StoreError("lost", "The connection broke.");

/** Applies every commit. Loses the answers while `isBroken`. */
class ForgetfulStore extends StoreWrapper {
  isBroken = false;
  readonly keys: (CommitKey | undefined)[] = [];

  override async commit(...[operations, key]: Parameters<Store["commit"]>): ReturnType<Store["commit"]> {
    this.keys.push(key);
    const outcomes = await super.commit(operations, key);
    if (this.isBroken) throw lost();
    return outcomes;
  }

  protected override around<T>(_method: string, call: () => Promise<T>): Promise<T> {
    return call();
  }
}

async function openForgetful(run: Parameters<typeof scripted>[0]): Promise<ForgetfulStore> {
  const stores: ForgetfulStore[] = [];
  harness = await openHarness({
    agents: scripted(run),
    wrapStore: (inner) => {
      const store = new ForgetfulStore(inner);
      stores.push(store);
      return store;
    },
  });
  const [store] = stores;
  if (store === undefined) throw new Error("The harness wraps its store.");
  return store;
}

describe("a commit whose answer is lost", () => {
  test("is repeated with its key, and applied once", async () => {
    const store = await openForgetful(async () => "done");
    store.isBroken = true;
    const sending = harness.send("go");
    await turns(10);
    store.isBroken = false;
    await harness.advance(1000, 10);
    expect((await sending).status.state).toBe("completed");
    const keys = store.keys.filter((key) => key !== undefined);
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys.map(({ writer, n }) => `${writer}#${n}`)).size).toBe(1);
    expect(harness.fatal).toEqual([]);
  });

  test("ends the run, but not the process, if the answer stays unknown; the task is claimed again and goes on", async () => {
    let isFirst = true;
    const store = await openForgetful(async (task) => {
      await task.artifact("a").write("1");
      if (isFirst) {
        isFirst = false;
        await task.flush();
        store.isBroken = true;
      }
      await task.artifact("a").end("2");
    });
    const { taskId } = await harness.start("go");
    await harness.advance(12_000);
    expect(harness.fatal).toEqual([]);
    store.isBroken = false;
    await harness.advance(3000);
    await harness.untilState(taskId, "completed");
    expect((await harness.get(taskId)).artifacts).toMatchObject([{ parts: [{ text: "12" }] }]);
  });

  test("that creates a task answers the caller with unavailable; the task that was created all the same runs", async () => {
    let runs = 0;
    const store = await openForgetful(async () => {
      runs += 1;
      await new Promise<never>(() => {});
    });
    store.isBroken = true;
    const sending = harness.start("go").catch((error: unknown) => error);
    await harness.advance(12_000);
    expect(await sending).toMatchObject({ code: "unavailable" });
    store.isBroken = false;
    const before = runs;
    await harness.advance(5000);
    const { tasks } = await harness.shared.list({ scope: harness.scope(), limit: 9, artifacts: false });
    expect(tasks).toHaveLength(1);
    expect(runs).toBe(before + 1);
  });
});

describe("claims whose answer is lost", () => {
  test("are found in the store, and the tasks go on", async () => {
    harness = await openHarness({
      agents: scripted(async (task) => {
        if (task.attempt === 1) await new Promise<never>(() => {});
        return "done";
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.kill();
    const { shared } = harness;
    const claimDue = shared.claimDue.bind(shared);
    let failures = 1;
    shared.claimDue = async (query) => {
      const due = await claimDue(query);
      if (failures-- > 0) throw lost();
      return due;
    };
    harness = await harness.join();
    await harness.advance(3000);
    await harness.untilState(taskId, "completed");
  });
});
