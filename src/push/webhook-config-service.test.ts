import { describe, expect, it } from "vitest";
import type { TaskId } from "../protocol/ids.ts";
import type { PushConfig } from "../protocol/operation.ts";
import { StoreError } from "../store/contract.ts";
import { PushTrial } from "./test/push-trial.ts";

const HOOK: PushConfig = { url: "https://hooks.example/a?key=1" };
const NOBODY = "0197f0a1-2b3c-7d4e-8f50-0123456789ab" as TaskId;

/** The service, and a task without webhooks. */
async function open(settings: { maxPerTask?: number } = {}) {
  const trial = await PushTrial.open({ settings });
  const { id } = await trial.task("t");
  return {
    trial,
    configs: trial.push.configs,
    id,
    me: trial.caller(),
    [Symbol.asyncDispose]: () => trial[Symbol.asyncDispose](),
  };
}

describe("A push configuration", () => {
  it("gets an id if it has none, and keeps the one it has", async () => {
    await using world = await open();
    const { configs, me, id } = world;
    const made = await configs.set(me, id, HOOK);
    expect(made).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), url: HOOK.url });
    expect(await configs.set(me, id, { ...HOOK, id: "mine" })).toEqual({ id: "mine", url: HOOK.url });
    expect(await configs.get(me, id, made.id)).toEqual(made);
    expect((await configs.list(me, id)).map((config) => config.id)).toEqual([made.id, "mine"]);
  });

  it("shows no secret in answers, and stores none in plain text", async () => {
    await using world = await open();
    const { configs, me, id, trial } = world;
    const secret = {
      ...HOOK,
      id: "s",
      token: "tok-1",
      authentication: { schemes: ["Basic"] as const, credentials: "cred-1" },
    };
    const shown = {
      ...secret,
      token: "***",
      authentication: { schemes: ["Basic"], credentials: "***" },
      headers: { "X-K": "***" },
      events: ["status"],
    };
    const set = await configs.set(me, id, { ...secret, headers: { "X-K": "key-1" }, events: ["status"] });
    expect(set).toEqual(shown);
    expect(await configs.get(me, id, "s")).toEqual(shown);
    expect(await configs.list(me, id)).toEqual([shown]);
    const stored = JSON.stringify(await trial.harness.shared.webhooks(id));
    for (const text of ["tok-1", "cred-1", "key-1", "hooks.example"]) expect(stored).not.toContain(text);
  });

  it("replaces the configuration with the same id", async () => {
    await using world = await open();
    const { configs, me, id } = world;
    await configs.set(me, id, { ...HOOK, id: "a", token: "x" });
    await configs.set(me, id, { ...HOOK, id: "b" });
    await configs.set(me, id, { id: "a", url: "https://other.example/" });
    expect(await configs.list(me, id)).toEqual([
      { id: "a", url: "https://other.example/" },
      { id: "b", url: HOOK.url },
    ]);
  });

  it("replaces every other of the same dialect if the dialect allows one per task", async () => {
    await using world = await open();
    const { configs, id, trial } = world;
    const single = trial.caller({ single: true, missing: "nothing" });
    expect(await configs.get(single, id, undefined)).toBeUndefined();
    await configs.set(single, id, HOOK);
    await configs.set(single, id, { url: "https://other.example/" });
    expect(await configs.list(single, id)).toMatchObject([{ url: "https://other.example/" }]);
    expect(await configs.get(single, id, undefined)).toMatchObject({ url: "https://other.example/" });
    await configs.delete(single, id, undefined);
    expect(await configs.get(single, id, undefined)).toBeUndefined();
    expect(trial.push.counts().claimed).toBe(0);
  });

  it("is returned to the caller that set it, even if another replaces it at the same time", async () => {
    await using world = await open();
    const { configs, id, trial } = world;
    const single = trial.caller({ single: true });
    const urls = Array.from({ length: 5 }, (_, index) => `https://hooks.example/${index}`);
    const set = await Promise.all(urls.map((url) => configs.set(single, id, { url })));
    expect(set.map(({ url }) => url)).toEqual(urls);
    expect(await configs.list(single, id)).toHaveLength(1);
  });

  it("is the same as a stored one if nothing in it differs, although each is encrypted anew", async () => {
    await using world = await open();
    const { configs, me, id, trial } = world;
    const sent = { ...HOOK, id: "w", token: "tok-1" };
    await trial.harness.start({ taskId: id, parts: [{ text: "x" }] }, { webhook: trial.submitted(sent) });
    const [stored] = await trial.harness.shared.webhooks(id);
    if (stored === undefined) throw new Error("no webhook is stored");
    const isSame = (config: PushConfig) => configs.isSame(configs.prepare(me, config, ""), stored, me.scope);
    expect(isSame(sent)).toBe(true);
    expect(isSame({ ...sent, token: "tok-2" })).toBe(false);
    expect(isSame({ ...sent, url: "https://hooks.example/b" })).toBe(false);
    expect(isSame({ ...sent, id: "v" })).toBe(false);
    expect(isSame({ url: HOOK.url, token: "tok-1" })).toBe(false);
  });

  it("is refused if it contains the mask instead of the secret", async () => {
    await using world = await open();
    const { configs, me, id } = world;
    const read = await configs.set(me, id, { ...HOOK, id: "a", token: "t" });
    await expect(configs.set(me, id, { ...read, url: "https://other.example/" })).rejects.toMatchObject({
      code: "invalid-params",
      violations: [{ field: "pushNotificationConfig.token" }],
    });
  });

  it("is found without an id if it is the latest, and by the dialect's unnamed id if it was set without one", async () => {
    await using world = await open();
    const { configs, id, trial } = world;
    const named = trial.caller({ unnamedId: "default" });
    const at = (name: string) => ({ url: `https://hooks.example/${name}` });
    await configs.set(named, id, at("first"));
    await configs.set(named, id, at("second"));
    await configs.set(named, id, { ...at("third"), id: "third" });
    expect(await configs.get(named, id, undefined)).toMatchObject(at("third"));
    expect(await configs.get(named, id, "default")).toMatchObject(at("second"));
    await expect(configs.get(world.me, id, "default")).rejects.toMatchObject({ code: "task-not-found" });
    await configs.delete(named, id, "default");
    expect(await configs.get(named, id, "default")).toMatchObject(at("first"));
    // A configuration that really has this id takes precedence.
    await configs.set(named, id, { ...at("own"), id: "default" });
    expect(await configs.get(named, id, "default")).toMatchObject(at("own"));
  });

  it("may be deleted repeatedly", async () => {
    await using world = await open();
    const { configs, me, id } = world;
    await configs.set(me, id, { ...HOOK, id: "a" });
    await configs.delete(me, id, "a");
    await configs.delete(me, id, "a");
    expect(await configs.list(me, id)).toEqual([]);
    await expect(configs.get(me, id, "a")).rejects.toMatchObject({
      code: "task-not-found",
      metadata: { taskId: id, id: "a" },
    });
  });

  it("is refused with resource-exhausted if the task has the most allowed", async () => {
    await using world = await open({ maxPerTask: 2 });
    const { configs, me, id } = world;
    await configs.set(me, id, { ...HOOK, id: "a" });
    await configs.set(me, id, { ...HOOK, id: "b" });
    await expect(configs.set(me, id, { ...HOOK, id: "c" })).rejects.toMatchObject({ code: "resource-exhausted" });
    await configs.set(me, id, { ...HOOK, id: "b" });
  });

  it("is refused with unavailable if the store fails, and does not exist afterwards", async () => {
    await using world = await open();
    const { configs, me, id, trial } = world;
    trial.harness.store.failNext(new StoreError("full", "Full."));
    await expect(configs.set(me, id, HOOK)).rejects.toMatchObject({ code: "unavailable", retryAfter: 5 });
    expect(await configs.list(me, id)).toEqual([]);
  });

  it("of a task with an id chosen by the caller is found by that id", async () => {
    await using world = await open();
    const { configs, me, trial } = world;
    await trial.harness.start({ taskId: "my task" as TaskId, parts: [{ text: "n" }] }, { namesTask: true });
    const set = await configs.set(me, "my task" as TaskId, HOOK);
    expect(await configs.get(me, "my task" as TaskId, set.id)).toEqual(set);
    const other = trial.caller({}, "another owner");
    await expect(configs.list(other, "my task" as TaskId)).rejects.toMatchObject({ code: "task-not-found" });
  });
});

describe("A task of another owner", () => {
  it("gives the same errors as a task that does not exist", async () => {
    await using world = await open();
    const { configs, me, id, trial } = world;
    await configs.set(me, id, { ...HOOK, id: "a" });
    const other = trial.caller({}, "another owner");
    const wrong = { url: "not even a URL" };
    const asked = (caller: typeof me, task: TaskId) => [
      configs.set(caller, task, HOOK),
      configs.set(caller, task, wrong),
      configs.get(caller, task, "a"),
      configs.get(caller, task, undefined),
      configs.list(caller, task),
      configs.delete(caller, task, "a"),
    ];
    const answers = async (caller: typeof me, task: TaskId) =>
      (await Promise.allSettled(asked(caller, task))).map((each) =>
        each.status === "rejected"
          ? `${String(each.reason)} ${JSON.stringify(each.reason)}`.replaceAll(task, "ID")
          : "no error",
      );
    const theirs = await answers(other, id);
    expect(theirs).toEqual(await answers(me, NOBODY));
    expect(new Set(theirs).size).toBe(1);
    expect(await configs.list(me, id)).toHaveLength(1);
  });
});
