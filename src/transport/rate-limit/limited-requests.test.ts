import { expect, it } from "vitest";
import { A2AError } from "../../protocol/error.ts";
import type { Authenticate } from "../options.ts";
import { describeFaces, framesOf, textMessage } from "../test/faces.ts";

/** Callers name themselves. */
const byName: Authenticate = ({ headers }) => {
  const name = headers.get("x-name");
  if (name === "nobody") throw new A2AError("unauthenticated", "Who is that?");
  return name === null ? undefined : { id: name, anonymous: false };
};

const LIMIT = { requests: 2, seconds: 10 };

describeFaces("A server with rate limits", (open) => {
  const time = { now: 0 };
  const now = (): number => time.now;

  it("sends the limit in headers to every caller, and refuses requests over it", async () => {
    time.now = 0;
    const site = await open({ rateLimit: { principal: LIMIT }, authenticate: byName, now });
    const ada = { "x-name": "ada" };
    const first = await site.post("SendMessage", textMessage("hello"), ada);
    expect(first.status).toBe(200);
    expect(first.headers.get("x-ratelimit-limit")).toBe("2");
    expect(first.headers.get("x-ratelimit-remaining")).toBe("1");
    expect(first.headers.get("ratelimit-policy")).toBe("2;w=10");
    expect(first.headers.get("ratelimit-limit")).toBe("2");
    expect(first.headers.get("ratelimit-remaining")).toBe("1");
    expect(first.headers.get("ratelimit-reset")).toBe("5");
    const reset = Number(first.headers.get("x-ratelimit-reset"));
    expect(Math.abs(reset - Date.now() / 1000 - 5)).toBeLessThan(60);
    await first.text();

    const stream = await site.post("SendStreamingMessage", textMessage("hello"), ada);
    expect(stream.headers.get("x-ratelimit-remaining")).toBe("0");
    await stream.text();

    const refused = await site.post("SendMessage", textMessage("hello"), ada);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(refused.headers.get("ratelimit-remaining")).toBe("0");
    expect(await refused.json()).toMatchObject({
      id: expect.anything(),
      error: { code: -32054, data: [{ reason: "RATE_LIMITED" }] },
    });
    const early = await site.post("tasks/get", { id: "x" }, { ...ada, "a2a-version": "0.1" });
    expect(await early.json()).toMatchObject({ id: expect.anything(), error: { code: -32010 } });
    expect(site.engine.tasks.size).toBe(2);

    const bob = await site.post("SendMessage", textMessage("hello"), { "x-name": "bob" });
    expect(bob.status).toBe(200);
    await bob.text();
    time.now = 5000;
    const later = await site.post("SendMessage", textMessage("hello"), ada);
    expect(later.status).toBe(200);
    await later.text();
  });

  it("sends the headers also with an error as the only event of a stream", async () => {
    time.now = 0;
    const site = await open({ rateLimit: { principal: LIMIT }, now });
    const headers = { "a2a-version": "0.3", accept: "text/event-stream" };
    const refused = await site.post("tasks/resubscribe", { id: "nope" }, headers);
    expect(refused.headers.get("content-type")).toBe("text/event-stream");
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("1");
    expect(await refused.text()).toContain("event: error");
  });

  it("counts an address before authentication on every path except health checks", async () => {
    time.now = 0;
    const site = await open({ rateLimit: { address: LIMIT }, authenticate: byName, now });
    const wrong = await site.post("SendMessage", textMessage("hello"), { "x-name": "nobody" });
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get("x-ratelimit-remaining")).toBe("1");
    await wrong.text();
    const card = await site.request("/.well-known/agent-card.json");
    expect(card.status).toBe(200);
    await card.text();
    for (const path of ["/.well-known/agent-card.json", "/", "/tasks/x", "/nowhere"]) {
      const refused = await site.request(path);
      expect(refused.status).toBe(429);
      expect(refused.headers.get("retry-after")).toBe("5");
      await refused.text();
    }
    const health = await site.request("/healthz");
    expect(health.status).toBe(200);
    expect(health.headers.get("x-ratelimit-limit")).toBeNull();
    await health.text();
  });

  it("writes the first of several refusals of an address to the audit log", async () => {
    time.now = 0;
    const outcomes: string[] = [];
    const site = await open({
      rateLimit: { address: LIMIT },
      now,
      audit: ({ outcome }) => void outcomes.push(outcome),
    });
    for (let index = 0; index < 10; index++) await (await site.post("GetTask", { id: "x" })).text();
    expect(outcomes).toEqual(["task-not-found", "task-not-found", "rate-limited"]);
    time.now = 5000;
    for (let index = 0; index < 3; index++) await (await site.post("GetTask", { id: "x" })).text();
    expect(outcomes.slice(3)).toEqual(["task-not-found", "rate-limited"]);
  });

  it("reports the limit that will be reached first", async () => {
    time.now = 0;
    const site = await open({
      rateLimit: { address: { requests: 5, seconds: 10 }, principal: LIMIT },
      authenticate: byName,
      now,
    });
    for (const [name, remaining] of [
      ["ada", "1"],
      ["bob", "1"],
      ["eve", "1"],
      ["ida", "1"],
      ["joe", "0"],
    ] as const) {
      const answer = await site.post("GetTask", { id: "x" }, { "x-name": name });
      expect(answer.headers.get("x-ratelimit-remaining")).toBe(remaining);
      await answer.text();
    }
  });

  it("limits the open streams of each caller, and counts closed ones no more", async () => {
    const site = await open({ limits: { maxStreamsPerCaller: 1 }, authenticate: byName });
    const ada = { "x-name": "ada" };
    const reader = framesOf(await site.post("SendStreamingMessage", textMessage("hang"), ada));
    await reader.next();
    const refused = await site.post("SendStreamingMessage", textMessage("hang"), ada);
    expect(await refused.json()).toMatchObject({ error: { code: -32053 } });
    expect(site.engine.tasks.size).toBe(1);
    const bob = framesOf(await site.post("SendStreamingMessage", textMessage("hang"), { "x-name": "bob" }));
    await bob.next();
    await bob.return();
    await reader.return();
    await expect.poll(() => site.handler.openStreams).toBe(0);
    const unknown = { id: "nope" };
    // A stream that failed to open is not counted either.
    for (let index = 0; index < 3; index++) {
      const none = await site.post("SubscribeToTask", unknown, ada);
      expect(await none.json()).toMatchObject({ error: { code: -32001 } });
    }
    const again = await site.post("SendStreamingMessage", textMessage("hello"), ada);
    expect(await again.text()).toContain("TASK_STATE_COMPLETED");
  });
});
