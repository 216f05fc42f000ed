import { describe, expect, test } from "vitest";
import { createSecretBox, encryptTo } from "../../../auth/secret-box.ts";
import { authRequestOf, secretPart } from "../../../protocol/auth-request-part.ts";
import type { Message } from "../../../protocol/message.ts";
import { textOf } from "../../../protocol/part.ts";
import type { Task } from "../../../protocol/task.ts";
import { type EngineHarness, openHarness, scripted } from "../../../testing/engine-harness.ts";
import { everythingStored } from "../../../testing/everything-stored.ts";
import type { Agent } from "../../agent/agent.ts";

describe("requireAuth", () => {
  test("waits in auth-required for the caller's next message", async () => {
    const got: (Message | undefined)[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        got.push(await task.requireAuth("Log in at https://example.com"));
      }),
    });
    const asked = await harness.send("go");
    expect(asked.status.state).toBe("auth-required");
    await harness.send({ taskId: asked.id, parts: [{ text: "done" }] });
    expect(got[0]?.parts[0]?.text).toBe("done");
    expect(await harness.story(asked.id)).toEqual([
      "working",
      "auth-required:Log in at https://example.com",
      "working",
      "completed",
    ]);
  });

  test("continues without a message when `until` resolves", async () => {
    let authorise: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(
        async (task) =>
          `got ${typeof (await task.requireAuth("Log in", { until: () => new Promise<void>((resolve) => (authorise = resolve)) }))}`,
      ),
    });
    const asked = await harness.send("go");
    authorise?.();
    await harness.untilState(asked.id, "completed");
    expect(await harness.story(asked.id)).toEqual([
      "working",
      "auth-required:Log in",
      "working",
      "result=got undefined!",
      "completed",
    ]);
  });

  test("calls `until` again after a restart", async () => {
    const granted = Promise.withResolvers<void>();
    let watchers = 0;
    const first = await openHarness({
      agents: scripted(async (task) => {
        const until = (): Promise<void> => {
          watchers += 1;
          return granted.promise;
        };
        return `got ${typeof (await task.requireAuth("Log in", { until }))}`;
      }),
    });
    const { id } = await first.send("go");
    await using harness = await first.crash();
    await harness.until(() => watchers === 2);
    expect((await harness.get(id)).status.state).toBe("auth-required");
    granted.resolve();
    await harness.untilState(id, "completed");
    expect(await harness.story(id)).toEqual([
      "working",
      "auth-required:Log in",
      "working",
      "result=got undefined!",
      "completed",
    ]);
  });

  test("throws the error of `until`, and the run continues", async () => {
    let fail: ((error: Error) => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(
        async (task) => {
          await task
            .requireAuth("Log in", { until: () => new Promise<void>((_, reject) => (fail = reject)) })
            .catch(() => {});
          await task.artifact("a").write("without");
          await new Promise<void>((_, reject) =>
            task.signal.addEventListener("abort", () => reject(task.signal.reason)),
          );
        },
        { timeout: 5000 },
      ),
    });
    const asked = await harness.send("go");
    fail?.(new Error("denied"));
    await harness.untilState(asked.id, "working");
    const record = await harness.shared.get(asked.id, { artifacts: false });
    expect(record?.head.active).toBe(true);
    // Its deadline counts again.
    await harness.advance(6000);
    expect((await harness.get(asked.id)).status.state).toBe("failed");
  });
});

/** The request as described for programs. */
function needOf(task: Task) {
  const [need] = (task.status.message?.parts ?? []).flatMap((part) => authRequestOf(part) ?? []);
  if (need === undefined) throw new Error("The task does not say what it needs.");
  return need;
}

async function withoutData(harness: EngineHarness, id: Task["id"]): Promise<string[]> {
  return (await harness.story(id)).map((line) => line.replace(/\{.*\}/, ""));
}

describe("requireAuth with a described request", () => {
  const calendar: Agent = scripted(async (task) => {
    const message = await task.requireAuth({
      message: "May I read your calendar?",
      schemes: ["google", { type: "oauth2", scope: "calendar.read" }],
      description: "Read access to one calendar",
      timeout: 60_000,
    });
    return `heard ${textOf(message?.parts ?? [])}`;
  });

  test("shows the request as text and as data, and continues with the caller's message", async () => {
    await using harness = await openHarness({ agents: calendar });
    const asked = await harness.send("go");
    expect(asked.status.state).toBe("auth-required");
    expect(asked.status.message?.parts).toEqual([
      { text: "May I read your calendar?" },
      {
        data: {
          requestId: expect.any(String),
          schemes: ["google", { type: "oauth2", scope: "calendar.read" }],
          description: "Read access to one calendar",
          expiresAt: new Date(harness.clock.now() + 60_000).toISOString(),
        },
        metadata: { kind: "auth-request" },
      },
    ]);
    const done = await harness.send({ taskId: asked.id, parts: [{ text: "granted" }] });
    expect(done.artifacts?.[0]?.parts).toEqual([{ text: "heard granted" }]);
    expect(done.history?.map(({ parts }) => parts[0]?.text)).toEqual(["go", "May I read your calendar?", "granted"]);
  });

  test("fails the task after the timeout, parked or not", async () => {
    for (const parkAfter of [1e9, 5000]) {
      await using harness = await openHarness({ agents: calendar, parkAfter });
      const { id } = await harness.send("go");
      await harness.advance(58_000);
      expect((await harness.get(id)).status.state).toBe("auth-required");
      await harness.advance(4000);
      expect((await harness.get(id)).status).toMatchObject({
        state: "failed",
        message: { parts: [{ text: "Authorization timeout" }, { data: { taskId: id, timeoutSeconds: 60 } }] },
      });
    }
  });

  test("asks once, even if the process dies while it waits and after the answer", async () => {
    let attempts = 0;
    await using first = await openHarness({
      agents: scripted(async (task) => {
        attempts += 1;
        const message = await task.requireAuth({ message: "Log in", schemes: ["sso"] });
        if (attempts === 2) await new Promise(() => {});
        return `by ${textOf(message?.parts ?? [])}`;
      }),
    });
    const { id } = await first.send("go");
    const second = await first.crash();
    await second.start({ taskId: id, parts: [{ text: "done" }] });
    await second.untilState(id, "working");
    const third = await second.crash();
    await third.untilState(id, "completed");
    expect(await withoutData(third, id)).toEqual([
      "working",
      "auth-required:Log in",
      "working",
      "result=by done!",
      "completed",
    ]);
  });

  test("calls `until` in every attempt", async () => {
    const waiting: (() => void)[] = [];
    await using first = await openHarness({
      agents: scripted(async (task) => {
        await task.requireAuth({
          message: "Log in",
          until: () => new Promise<void>((resolve) => waiting.push(resolve)),
        });
      }),
    });
    const { id } = await first.send("go");
    const second = await first.crash();
    await second.until(() => waiting.length === 2);
    waiting[1]?.();
    await second.untilState(id, "completed");
    expect(await withoutData(second, id)).toEqual(["working", "auth-required:Log in", "working", "completed"]);
  });

  test("throws what `until` throws synchronously", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const refuse = (): Promise<void> => {
          throw new Error("denied");
        };
        return task.requireAuth({ message: "Log in", until: refuse }).then(
          () => "in",
          (error: unknown) => String(error),
        );
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.untilState(taskId, "completed");
    expect((await harness.get(taskId)).artifacts?.[0]?.parts).toEqual([{ text: "Error: denied" }]);
  });
});

describe("requireAuth for a secret", () => {
  const SECRET = "hunter2-träumt";

  function keeper(got: unknown[]): Agent {
    return scripted(async (task) => {
      const token = await task.requireAuth({ message: "Your token, please.", secret: true, schemes: ["apiKey"] });
      got.push(token, ...task.history.map(({ parts }) => parts[0]?.text));
      await task.step("use it", () => token.length);
    });
  }

  async function hidden(harness: EngineHarness, id: Task["id"], extra: readonly unknown[] = []): Promise<void> {
    // Everything that was ever written counts, not only what is still stored.
    const places = [await everythingStored(harness), harness.store.commits, await harness.get(id), harness.logs, extra];
    for (const place of places) expect(JSON.stringify(place)).not.toContain("hunter2");
  }

  test("accepts a secret that is encrypted with its public key, and exposes it only to the run", async () => {
    const got: unknown[] = [];
    const events: unknown[] = [];
    await using harness = await openHarness({
      agents: keeper(got),
      hooks: { on: { event: (...seen) => void events.push(seen) } },
    });
    const asked = await harness.send("go");
    const need = needOf(asked);
    expect(need).toEqual({
      requestId: expect.any(String),
      schemes: ["apiKey"],
      secret: true,
      key: { kty: "EC", crv: "P-256", x: expect.any(String), y: expect.any(String), use: "enc", alg: "ECDH-ES" },
    });
    expect(asked.status.message?.metadata).toEqual({ sensitive: true });
    const jwe = await encryptTo(need.key ?? {}, SECRET);
    const done = await harness.send({ taskId: asked.id, parts: [secretPart(jwe)] });
    expect(done.status.state).toBe("completed");
    expect(got).toEqual([SECRET, "go"]);
    await hidden(harness, asked.id, events);
    expect(await everythingStored(harness)).not.toContain(jwe);
  });

  test("accepts a secret in plain text, and exposes it only to the run", async () => {
    const got: unknown[] = [];
    await using harness = await openHarness({ agents: keeper(got) });
    const { id } = await harness.send("go");
    harness.store.hold();
    const sent = harness.send({ taskId: id, parts: [{ text: SECRET }], metadata: { note: SECRET } });
    await harness.until(() => harness.store.held === 1);
    await hidden(harness, id);
    harness.store.release();
    await sent;
    expect(got).toEqual([SECRET, "go"]);
    await hidden(harness, id);
  });

  test("seals the answer even if another wait of the run ends meanwhile", async () => {
    let go: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const sleep = task.sleep(1000);
        await new Promise<void>((resolve) => (go = resolve));
        await Promise.all([task.requireAuth({ message: "Token?", secret: true }), sleep]);
      }),
    });
    const ticket = await harness.start("go");
    await harness.until(() => go !== undefined);
    harness.store.hold();
    go?.();
    await harness.until(() => harness.store.held === 1);
    await harness.advance(1500);
    harness.store.release();
    await harness.settled(ticket);
    const record = await harness.shared.get(ticket.key, { artifacts: false });
    expect(record?.head.state).toBe("auth-required");
    expect(JSON.parse(record?.head.runner ?? "{}")).toMatchObject({ questions: { open: [{ sensitive: true }] } });
    const done = await harness.send({ taskId: ticket.taskId, parts: [{ text: SECRET }] });
    expect(done.status.state).toBe("completed");
    await hidden(harness, ticket.taskId);
  });

  test("asks again, with a new key, if the answer cannot be decrypted, and does not show the answer", async () => {
    const got: unknown[] = [];
    await using harness = await openHarness({ agents: keeper(got) });
    const asked = await harness.send("go");
    const { publicKey } = await createSecretBox();
    const valid = await encryptTo(needOf(asked).key ?? {}, SECRET);
    const wrong = [await encryptTo(publicKey, SECRET), "hunter2.not.a.jwe", `${valid.slice(0, -2)}AA`, ""];
    for (const jwe of wrong) {
      const again = await harness.send({ taskId: asked.id, parts: [secretPart(jwe)] });
      expect(again.status.state).toBe("auth-required");
      const [problem, words, part] = again.status.message?.parts ?? [];
      expect(problem?.text).toMatch(/^That answer is not valid: It could not be decrypted/);
      expect(words).toEqual({ text: "Your token, please." });
      expect(part?.data).toMatchObject({ secret: true });
      expect(part?.data).not.toMatchObject({ key: needOf(asked).key });
    }
    await harness.send({ taskId: asked.id, parts: [{ text: SECRET }] });
    expect(got[0]).toBe(SECRET);
    await hidden(harness, asked.id);
  });

  test("keeps the key and the secret, sealed, over crashes", async () => {
    const got: unknown[] = [];
    let attempts = 0;
    await using first = await openHarness({
      agents: scripted(async (task) => {
        attempts += 1;
        got.push(await task.requireAuth({ message: "Token?", secret: true }));
        if (attempts === 2) await new Promise(() => {});
      }),
    });
    const asked = await first.send("go");
    const key = needOf(asked).key ?? {};
    expect(JSON.stringify(await first.shared.steps(asked.id))).not.toContain('"d"');
    const second = await first.crash();
    await second.start({ taskId: asked.id, parts: [secretPart(await encryptTo(key, SECRET))] });
    await second.until(() => got.length === 1);
    const third = await second.crash();
    await third.untilState(asked.id, "completed");
    expect(got).toEqual([SECRET, SECRET]);
    expect((await third.story(asked.id)).filter((line) => line.startsWith("auth-required"))).toHaveLength(1);
    await hidden(third, asked.id);
  });

  test("asks again if the server's own secret has changed", async () => {
    const got: unknown[] = [];
    await using first = await openHarness({ agents: keeper(got), parkAfter: 1000 });
    const asked = await first.send("go");
    const old = await encryptTo(needOf(asked).key ?? {}, SECRET);
    await first.advance(3000);
    const second = await first.crash({ secret: new Uint8Array(32).fill(9) });
    await second.start({ taskId: asked.id, parts: [secretPart(old)] });
    await second.until(async () => (await second.story(asked.id)).length === 4, "the request to be shown again");
    const again = await second.get(asked.id);
    expect(again.status.state).toBe("auth-required");
    expect(needOf(again).key).not.toEqual(needOf(asked).key);
    await second.send({ taskId: asked.id, parts: [secretPart(await encryptTo(needOf(again).key ?? {}, SECRET))] });
    await second.untilState(asked.id, "completed");
    expect(got).toEqual([SECRET, "go"]);
    await hidden(second, asked.id);
  });

  test("seals all messages that arrive meanwhile", async () => {
    const got: unknown[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        got.push(await task.requireAuth({ message: "Token?", secret: true }));
        got.push(textOf((await task.next({ wait: false }))?.parts ?? []));
      }),
    });
    const { id } = await harness.send("go");
    harness.store.hold();
    const both = [SECRET, `${SECRET} twice`].map((text) => harness.start({ taskId: id, parts: [{ text }] }));
    await harness.until(() => harness.store.held === 1);
    harness.store.release();
    await Promise.all(both);
    await harness.untilState(id, "completed");
    expect(got).toEqual([SECRET, `${SECRET} twice`]);
    await hidden(harness, id);
  });
});
