import { describe, expect, it } from "vitest";
import { NodeLease } from "../engine/record/node-lease.ts";
import { createDeferred } from "../internal/deferred.ts";
import { OutgoingFailure, OutgoingRefused } from "../outgoing/errors.ts";
import type { TaskId } from "../protocol/ids.ts";
import { type Store, StoreError } from "../store/contract.ts";
import { type StoreMethod, StoreWrapper } from "../store/store-wrapper.ts";
import { turns } from "../testing/engine-harness.ts";
import { type Posted, PushTrial } from "./test/push-trial.ts";

const HOOK = { url: "https://hooks.example/a" };
const OTHER = { url: "https://other.example/b" };

describe("A webhook", () => {
  it("receives every event in order, each only after the one before was accepted", async () => {
    await using trial = await PushTrial.open();
    const task = await trial.task("t", HOOK);
    await task.chunk("one ");
    await task.chunk("two ");
    await task.end();
    for (let count = 1; count <= 5; count++) {
      const post = await trial.posted(count);
      expect(await trial.isQuiet()).toBe(true);
      post.answer(200);
    }
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    expect(trial.bodies()).toEqual(["status:working", "chunk:one ", "chunk:two ", "chunk:", "status:completed"]);
    expect(trial.outcomes()).toEqual(Array.from({ length: 5 }, () => "delivered"));
    const [webhook] = await trial.harness.shared.webhooks(task.id);
    expect(webhook).toMatchObject({ state: "idle", cursor: 5 });
  });

  it("receives nothing while the lease of the process is not renewed: another process may have sent it", async () => {
    const clock = { time: 0, now: () => clock.time };
    const lease = new NodeLease(5000, clock);
    lease.renewed(0);
    await using trial = await PushTrial.open({ answer: () => 200, lease });
    const task = await trial.task("t", HOOK);
    await trial.posted(1);
    clock.time = 2500;
    await task.chunk("one ");
    await trial.harness.advance(3000);
    expect(trial.bodies()).toEqual(["status:working"]);
    lease.renewed(2500);
    await trial.harness.advance(3000);
    expect(trial.bodies()).toEqual(["status:working", "chunk:one "]);
  });

  it("receives nothing from a process that lost its lease in the middle of a turn, until it has read the claim again", async () => {
    const clock = { time: 0, now: () => clock.time };
    const lease = new NodeLease(5000, clock);
    lease.renewed(0);
    let reading: Promise<void> = Promise.resolve();
    class SlowLog extends StoreWrapper {
      protected override async around<T>(method: StoreMethod, call: () => Promise<T>): Promise<T> {
        if (method === "log") await reading;
        return call();
      }
    }
    const wrapStore = (store: Store): Store => new SlowLog(store);
    await using trial = await PushTrial.open({ answer: () => 200, lease, wrapStore });
    const task = await trial.task("t", HOOK);
    await trial.posted(1);
    const gate = createDeferred<void>();
    reading = gate.promise;
    await task.chunk("one ");
    await turns(30);
    clock.time = 6000;
    lease.renewed(6000);
    gate.resolve();
    expect(await trial.isQuiet()).toBe(true);
    await trial.harness.advance(1000);
    await trial.posted(2);
    expect(trial.bodies()).toEqual(["status:working", "chunk:one "]);
  });

  it("that is stored again without a change goes on with the request on its way", async () => {
    await using trial = await PushTrial.open();
    const { push, harness } = trial;
    const task = await trial.task("t", HOOK);
    const post = await trial.posted(1);
    push.configs.stored(task.id, push.configs.prepare(trial.caller(), HOOK, "config"));
    await harness.pumped(turns(30));
    expect([post.isAborted(), trial.posts.length]).toEqual([false, 1]);
    post.answer(200);
    await task.chunk("one ");
    await trial.posted(2);
    expect(trial.bodies()).toEqual(["status:working", "chunk:one "]);
  });

  it("that is set later receives the events after that", async () => {
    await using trial = await PushTrial.open({ answer: () => 204 });
    const task = await trial.task("t");
    await task.chunk("before ");
    await trial.push.configs.set(trial.caller(), task.id, HOOK);
    await task.chunk("after ");
    await trial.posted(1);
    await task.end();
    await trial.posted(3);
    expect(trial.bodies()).toEqual(["chunk:after ", "chunk:", "status:completed"]);
  });

  it("that is set after the task ended receives the final status", async () => {
    await using trial = await PushTrial.open({ answer: () => 200 });
    const task = await trial.task("t");
    await task.chunk("x");
    await task.end();
    await trial.push.configs.set(trial.caller(), task.id, HOOK);
    await trial.posted(1);
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    expect(trial.bodies()).toEqual(["status:completed"]);
  });

  it("receives the whole task if its pending events were trimmed from the log", async () => {
    await using trial = await PushTrial.open({ answer: () => 200, retention: { logAge: 1000 } });
    const task = await trial.task("t");
    await task.chunk("x");
    await task.end();
    await trial.harness.advance(2000);
    await trial.harness.shared.sweep();
    expect(await trial.harness.shared.log(task.id, 0, 1000)).toEqual([]);
    await trial.push.configs.set(trial.caller(), task.id, HOOK);
    await trial.posted(1);
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    expect(trial.bodies()).toEqual(["task@4:status:completed:x"]);
  });

  it("receives only the kinds of events it asked for", async () => {
    await using trial = await PushTrial.open({ answer: () => 200 });
    const task = await trial.task("t", { ...HOOK, events: ["status"] });
    const other = await trial.push.configs.set(trial.caller(), task.id, { ...OTHER, events: ["artifact"] });
    await task.chunk("x");
    await task.status("hm");
    await task.end();
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    const to = (url: string) => trial.posts.filter((post) => post.url === url).map(({ body }) => body);
    expect(to(HOOK.url)).toEqual(["status:working", "status:working", "status:completed"]);
    expect(to(OTHER.url)).toEqual(["chunk:x", "chunk:"]);
    const webhooks = await trial.harness.shared.webhooks(task.id);
    expect(webhooks.find(({ id }) => id === other.id)).toMatchObject({ state: "idle", cursor: 5 });
  });

  it("receives its token, credentials, headers and the server's signature", async () => {
    await using trial = await PushTrial.open({ answer: () => 200 });
    await trial.task("t", {
      ...HOOK,
      token: "tok",
      authentication: { schemes: ["Basic"], credentials: "YTpi" },
      headers: { "X-Own": "mine" },
    });
    const { headers } = await trial.posted(1);
    const [claims] = trial.signed;
    expect(Object.fromEntries(headers)).toEqual({
      "a2a-test": "yes",
      authorization: "Basic YTpi",
      "content-type": "application/test",
      "x-a2a-notification-signature": `signed:${claims?.jti}`,
      "x-a2a-notification-token": "tok",
      "x-own": "mine",
    });
    expect(claims).toMatchObject({ url: HOOK.url, body: "status:working" });
  });
});

describe("A webhook that fails", () => {
  it("is retried after growing pauses with the same body and the same jti", async () => {
    await using trial = await PushTrial.open({ settings: { retryDelay: 1000 } });
    await trial.task("t", HOOK);
    (await trial.posted(1)).answer(500);
    await trial.harness.until(() => trial.records.length === 1);
    await trial.harness.advance(900);
    expect(trial.posts).toHaveLength(1);
    await trial.harness.advance(200);
    (await trial.posted(2)).fail(new OutgoingFailure("unreachable", "hooks.example cannot be reached."));
    await trial.harness.until(() => trial.records.length === 2);
    await trial.harness.advance(4500);
    expect(trial.posts).toHaveLength(2);
    await trial.harness.advance(1000);
    (await trial.posted(3)).answer(200);
    await trial.harness.until(() => trial.records.length === 3);
    expect(trial.outcomes()).toEqual(["retried", "retried", "delivered"]);
    expect(trial.records.map(({ attempt, httpStatus }) => [attempt, httpStatus])).toEqual([
      [1, 500],
      [2, undefined],
      [3, 200],
    ]);
    expect(new Set(trial.signed.map(({ jti }) => jti)).size).toBe(1);
    expect(new Set(trial.bodies()).size).toBe(1);
  });

  it("is retried after its Retry-After, at most after 10 minutes", async () => {
    await using trial = await PushTrial.open();
    await trial.task("t", HOOK);
    (await trial.posted(1)).answer(new Response(null, { status: 429, headers: { "retry-after": "30" } }));
    await trial.harness.until(() => trial.records.length === 1);
    await trial.harness.advance(29_000);
    expect(trial.posts).toHaveLength(1);
    await trial.harness.advance(1500);
    (await trial.posted(2)).answer(new Response(null, { status: 503, headers: { "retry-after": "99999" } }));
    await trial.harness.until(() => trial.records.length === 2);
    await trial.harness.advance(600_500, 10_000);
    await trial.posted(3);
  });

  it("becomes a dead letter after the last retry, and receives the rest only after redeliver()", async () => {
    await using trial = await PushTrial.open({ settings: { retries: 1, retryDelay: 10 } });
    const task = await trial.task("t", HOOK);
    await task.chunk("x");
    (await trial.posted(1)).answer(200);
    (await trial.posted(2)).answer(400);
    await trial.harness.until(() => trial.records.length === 2);
    await trial.harness.advance(100);
    (await trial.posted(3)).answer(404);
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    expect(trial.outcomes()).toEqual(["delivered", "retried", "given-up"]);
    await task.chunk("y");
    expect(await trial.isQuiet()).toBe(true);
    const letters = await trial.push.deadLetters.list();
    expect(letters).toMatchObject([{ taskId: task.id, outcome: "given-up", reason: "HTTP 404", seq: 2, attempts: 2 }]);
    expect(await trial.push.configs.list(trial.caller(), task.id)).toHaveLength(1);

    for (const letter of letters) await trial.push.deadLetters.redeliver(letter);
    (await trial.posted(4)).answer(200);
    (await trial.posted(5)).answer(200);
    expect(trial.bodies().slice(3)).toEqual(["chunk:x", "chunk:y"]);
    expect(await trial.push.deadLetters.list()).toEqual([]);
    await expect(trial.push.deadLetters.redeliver(letters[0] ?? { taskId: "", configId: "" })).rejects.toMatchObject({
      code: "task-not-found",
    });
  });

  it("that became a dead letter receives the missed events when it is set again", async () => {
    await using trial = await PushTrial.open({ settings: { retries: 0 } });
    const task = await trial.task("t", { ...HOOK, id: "a" });
    (await trial.posted(1)).answer(500);
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    await task.chunk("x");
    await trial.push.configs.set(trial.caller(), task.id, { ...OTHER, id: "a" });
    (await trial.posted(2)).answer(200);
    (await trial.posted(3)).answer(200);
    expect(trial.posts.slice(1).map(({ url, body }) => `${url} ${body}`)).toEqual([
      `${OTHER.url} status:working`,
      `${OTHER.url} chunk:x`,
    ]);
  });

  it("of a task with an id chosen by the caller is a dead letter found by that id and the scope", async () => {
    await using trial = await PushTrial.open({ settings: { retries: 0 }, answer: () => 500 });
    const { configs, deadLetters } = trial.push;
    const taskId = "my task" as TaskId;
    const webhook = trial.submitted(HOOK);
    const message = { taskId, parts: [{ text: "n" }] };
    const { key } = await trial.harness.start(message, { namesTask: true, webhook });
    configs.stored(key, webhook.draft);
    await trial.harness.until(async () => (await deadLetters.list()).length === 1);
    const [letter] = await deadLetters.list();
    expect(await deadLetters.list({ ...trial.harness.scope(), taskId })).toEqual([letter]);
    expect(await deadLetters.list({ ...trial.harness.scope({ owner: "x" }), taskId })).toEqual([]);
  });

  it("is removed after the last retry if its dialect says so, and stays a dead letter", async () => {
    await using trial = await PushTrial.open({ settings: { retries: 0 }, answer: () => 500 });
    const task = await trial.task("t");
    const caller = trial.caller({ afterFailure: "removed" });
    await trial.push.configs.set(caller, task.id, HOOK);
    await task.chunk("x");
    await trial.harness.until(async () => (await trial.push.deadLetters.list()).length === 1);
    expect(await trial.push.configs.list(caller, task.id)).toEqual([]);
    await expect(trial.push.configs.get(caller, task.id, undefined)).rejects.toMatchObject({ code: "task-not-found" });
  });

  it.each([
    ["dropped", (post: Posted) => post.answer(410), "removed"],
    ["refused", (post: Posted) => post.fail(new OutgoingRefused("private-address", "It is private.")), "suspended"],
    ["refused", (post: Posted) => post.answer(redirect(302, "https://elsewhere.example/")), "suspended"],
  ])("is %s without a retry if retries are useless", async (outcome, fail, state) => {
    await using trial = await PushTrial.open();
    const task = await trial.task("t", HOOK);
    fail(await trial.posted(1));
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    expect(trial.outcomes()).toEqual([outcome]);
    await trial.harness.advance(60_000, 10_000);
    expect(trial.posts).toHaveLength(1);
    expect(await trial.harness.shared.webhooks(task.id)).toMatchObject([{ state, cursor: 0 }]);
  });

  it("may redirect within its origin with 307 or 308, but not with a redirect that becomes GET", async () => {
    await using trial = await PushTrial.open();
    await trial.task("t", HOOK);
    (await trial.posted(1)).answer(redirect(308, "/c"));
    const second = await trial.posted(2);
    expect([second.url, second.body]).toEqual(["https://hooks.example/c", "status:working"]);
    second.answer(redirect(303, "/d"));
    await trial.harness.until(() => trial.records.length === 1);
    expect(trial.records).toMatchObject([{ outcome: "retried", reason: "HTTP 303" }]);
  });

  it("that never answers fails after the timeout", async () => {
    await using trial = await PushTrial.open({ settings: { timeout: 15_000 } });
    await trial.task("t", HOOK);
    const post = await trial.posted(1);
    await trial.harness.advance(14_000);
    expect(post.isAborted()).toBe(false);
    await trial.harness.advance(1500);
    await trial.harness.until(() => trial.records.length === 1);
    expect(post.isAborted()).toBe(true);
    expect(trial.records).toMatchObject([{ outcome: "retried", reason: "no answer within 15000 ms" }]);
  });

  it("whose configuration cannot be decrypted or whose dialect is unknown becomes a dead letter", async () => {
    await using trial = await PushTrial.open();
    const task = await trial.task("t");
    await trial.push.configs.set({ ...trial.caller(), dialect: "unknown" }, task.id, HOOK);
    await task.chunk("x");
    await trial.harness.until(async () => (await trial.push.deadLetters.list()).length === 1);
    expect(await trial.push.deadLetters.list()).toMatchObject([{ reason: "its protocol version is not supported" }]);
    expect(trial.posts).toEqual([]);
  });
});

describe("A webhook that hangs", () => {
  it("delays neither its task nor other origins, and has at most perOrigin requests on their way", async () => {
    await using trial = await PushTrial.open({ concurrency: { total: 4, perOrigin: 2 } });
    const hanging = await Promise.all([1, 2, 3, 4, 5].map((name) => trial.task(`h${name}`, HOOK)));
    await trial.posted(2);
    expect(await trial.isQuiet()).toBe(true);
    expect(trial.posts).toHaveLength(2);
    // The tasks continue.
    for (const task of hanging) await task.end();
    const prompt = await trial.task("p", OTHER);
    const others = () => trial.posts.filter(({ url }) => url === OTHER.url);
    await trial.harness.until(() => others().length === 1);
    others()[0]?.answer(200);
    await prompt.end();
    await trial.harness.until(() => others().length === 2);
    expect(trial.posts.filter(({ url }) => url === HOOK.url)).toHaveLength(2);
  });
});

describe("A webhook that is deleted", () => {
  it("receives nothing more, and its request on its way is aborted", async () => {
    await using trial = await PushTrial.open({ concurrency: { perOrigin: 1 } });
    const [flying, queued] = [await trial.task("f", HOOK), await trial.task("q", HOOK)];
    const post = await trial.posted(1);
    for (const { id } of [queued, flying]) {
      for (const config of await trial.push.configs.list(trial.caller(), id)) {
        await trial.push.configs.delete(trial.caller(), id, config.id);
      }
    }
    expect(post.isAborted()).toBe(true);
    await flying.chunk("x");
    await queued.chunk("x");
    expect(await trial.isQuiet()).toBe(true);
    expect(trial.posts).toHaveLength(1);
    expect(trial.push.counts()).toEqual({ claimed: 0, queued: 0, resting: 0, posting: 0, oldestPendingMs: 0 });
    // Its slot is free again.
    await trial.task("n", HOOK);
    await trial.posted(2);
  });

  it("or replaced receives its pending events at the new URL", async () => {
    await using trial = await PushTrial.open();
    const task = await trial.task("t", { ...HOOK, id: "mine" });
    const post = await trial.posted(1);
    await trial.push.configs.set(trial.caller(), task.id, { ...OTHER, id: "mine" });
    expect(post.isAborted()).toBe(true);
    const next = await trial.posted(2);
    expect([next.url, next.body]).toEqual([OTHER.url, "status:working"]);
    expect(new Set(trial.signed.map(({ jti }) => jti)).size).toBe(2);
  });
});

describe("A process that dies", () => {
  it("leaves its webhooks to the next process, which repeats the unconfirmed notification and continues from there", async () => {
    await using trial = await PushTrial.open({ settings: { retryDelay: 60_000 } });
    const task = await trial.task("t", HOOK);
    await task.chunk("one ");
    (await trial.posted(1)).answer(200);
    await trial.posted(2);
    await trial.kill();
    const next = await trial.join();
    const repeat = await next.posted(1);
    expect(repeat.body).toBe("chunk:one ");
    expect(next.signed[0]?.jti).toBe(trial.signed[1]?.jti);
    repeat.answer(500);
    await next.harness.until(async () => (await next.harness.shared.webhooks(task.id))[0]?.attempts === 1);
    // The pause before a retry survives the process too.
    await next.kill();
    const last = await next.join();
    expect(await last.isQuiet()).toBe(true);
    await last.harness.advance(61_000, 10_000);
    await last.posted(1);
    expect(last.signed[0]?.jti).toBe(trial.signed[1]?.jti);
    await last.push.drain(0);
  });

  it("does not delay retries for longer than 10 minutes after the clock was set back", async () => {
    await using trial = await PushTrial.open();
    const task = await trial.task("t", HOOK);
    await trial.posted(1);
    const { shared, clock } = trial.harness;
    const epoch = (await shared.webhooks(task.id))[0]?.epoch ?? 0;
    const note = { kind: "webhook-advance", task: task.id, epoch, cursor: 0, attempts: 1, state: "active" } as const;
    const id = (await shared.webhooks(task.id))[0]?.id ?? "";
    await shared.commit([{ ...note, id, nextAt: clock.now() + 86_400_000 }]);
    await trial.kill();
    const next = await trial.join();
    await shared.heartbeat(next.node, 3_600_000);
    expect(await next.isQuiet()).toBe(true);
    await next.harness.advance(600_000, 60_000);
    await next.posted(1);
    await next.push.drain(0);
  });

  it("loses its webhooks to another process only after its lease ended", async () => {
    await using trial = await PushTrial.open();
    const beside = await trial.join();
    await trial.task("t", HOOK);
    await trial.posted(1);
    await beside.harness.advance(10_000);
    expect(beside.posts).toEqual([]);
    await trial.kill();
    await beside.harness.advance(5000);
    expect((await beside.posted(1)).body).toBe("status:working");
    await beside.push.drain(0);
  });
});

describe("The dispatcher", () => {
  it("finds events by polling if the bus message was lost", async () => {
    await using trial = await PushTrial.open({ answer: () => 200 });
    const { bus } = trial.harness;
    const task = await trial.task("t", HOOK);
    await trial.posted(1);
    await trial.harness.until(() => trial.records.length === 1);
    const { publish } = bus;
    bus.publish = () => {};
    await task.chunk("undelivered ");
    bus.publish = publish;
    expect(await trial.isQuiet()).toBe(true);
    await trial.harness.advance(5000);
    expect((await trial.posted(2)).body).toBe("chunk:undelivered ");
  });

  it("sends nothing twice when the store is busy", async () => {
    await using trial = await PushTrial.open();
    const task = await trial.task("t", HOOK);
    const post = await trial.posted(1);
    const busy = new StoreError("busy", "Busy.");
    trial.harness.store.failNext(busy, busy);
    post.answer(200);
    await trial.harness.advance(1000, 50);
    await task.chunk("x");
    expect((await trial.posted(2)).body).toBe("chunk:x");
  });

  it("sends nothing more once the outcome of a commit is unknown", async () => {
    await using trial = await PushTrial.open();
    await trial.task("t", HOOK);
    const post = await trial.posted(1);
    trial.harness.store.failNext(new StoreError("unknown", "Who knows."));
    post.answer(200);
    await trial.harness.until(() => trial.harness.fatal.length > 0);
    expect(await trial.isQuiet()).toBe(true);
    expect(trial.posts).toHaveLength(1);
  });

  it("starts no request while it drains, waits for those on their way, and aborts them after the timeout", async () => {
    await using trial = await PushTrial.open({ concurrency: { perOrigin: 2 } });
    for (const name of ["a", "b", "c"]) await trial.task(name, HOOK);
    const [one, two] = [await trial.posted(1), await trial.posted(2)];
    let isDrained = false;
    const drained = trial.push.drain(2000).then(() => {
      isDrained = true;
    });
    one.answer(200);
    await trial.harness.until(() => trial.records.length === 1);
    await turns(10);
    expect(isDrained).toBe(false);
    expect(two.isAborted()).toBe(false);
    await trial.harness.advance(2500);
    await drained;
    expect(two.isAborted()).toBe(true);
    expect(trial.posts).toHaveLength(2);
    expect(trial.outcomes()).toEqual(["delivered"]);
  });

  it("logs an error of the delivery hook and continues", async () => {
    await using trial = await PushTrial.open({ answer: () => 200 });
    const push = trial.records.push.bind(trial.records);
    trial.records.push = (record) => {
      push(record);
      throw new Error("No.");
    };
    const task = await trial.task("t", HOOK);
    await task.end();
    await trial.posted(2);
  });
});

describe("A webhook that receives whole tasks", () => {
  it("receives the task as it was after each status, with all earlier artifacts", async () => {
    await using trial = await PushTrial.open({ carries: "task" });
    const task = await trial.task("t", HOOK);
    const first = await trial.posted(1);
    await task.chunk("one ");
    await task.chunk("two ");
    await task.status("hm");
    await task.chunk("three ");
    await task.end();
    first.answer(200);
    (await trial.posted(2)).answer(200);
    (await trial.posted(3)).answer(200);
    await trial.harness.until(() => trial.push.counts().claimed === 0);
    expect(trial.bodies()).toEqual([
      "task@1:status:working:",
      "task@4:status:working:one two ",
      "task@7:status:completed:one two three ",
    ]);
  });

  it("receives chunks together after a pause, and a status immediately", async () => {
    await using trial = await PushTrial.open({ carries: "task", answer: () => 200 });
    const task = await trial.task("t", HOOK);
    await trial.posted(1);
    await task.chunk("a");
    await trial.posted(2);
    await task.chunk("b");
    await task.chunk("c");
    expect(await trial.isQuiet()).toBe(true);
    await trial.harness.advance(1500);
    await trial.posted(3);
    await task.chunk("d");
    await task.status("hm");
    await trial.posted(4);
    expect(trial.bodies()).toEqual([
      "task@1:status:working:",
      "task@2:artifact:working:a",
      "task@4:artifact:working:abc",
      "task@6:status:working:abcd",
    ]);
  });
});

function redirect(status: number, location: string): Response {
  return new Response(null, { status, headers: { location } });
}
