import * as sdk from "a2a-sdk-v1";
import { ClientFactory } from "a2a-sdk-v1/client";
import { describe, expect, test } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { type ForeignTurn, serveForeign } from "./foreign-server.ts";
import { agent, textOfTask, World } from "./world.ts";

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

describe("an official server", () => {
  test("is called, and its task is canceled with its caller", async () => {
    await using foreign = await serveForeign(async ({ text, finish, canceled }) => {
      if (text === "wait") await canceled;
      else finish(`foreign ${text}`);
    });
    const near = agent("near", async (task) => (await task.call(foreign.url, task.text)).text);
    await using world = new World([near], { outgoing: { http: true, allow: ["loopback"] } });
    expect(textOfTask(await world.run("near", "hi"))).toBe("foreign hi");
    const sent = await (await world.client("near")).send("wait", { wait: false });
    const id = sent.kind === "task" ? sent.task.id : "";
    while (foreign.states().at(-1) !== "working") await soon();
    await (await world.client("near")).task(id).cancel();
    while (foreign.states().at(-1) !== "canceled") await soon();
    expect(foreign.messages()).toBe(2);
  });

  test("may be called only if the server option `outgoing` allows it", async () => {
    await using foreign = await serveForeign(async ({ finish }) => finish("x"));
    const near = agent("near", async (task) =>
      task.call(foreign.url, task.text).then(
        ({ text }) => text,
        (error: { code: string }) => error.code,
      ),
    );
    await using world = new World([near]);
    expect(textOfTask(await world.run("near", "hi"))).toBe("call-blocked-url");
    expect(foreign.messages()).toBe(0);
  });

  test.each([
    ["is found again by its context", true, "foreign hi"],
    ["has an unknown outcome if it cannot be found", false, "outcome-unknown"],
  ])("whose answer was lost is never sent the message twice: it %s", async (_name, lists, expected) => {
    await using foreign = await serveForeign(async ({ text, finish }) => finish(`foreign ${text}`));
    // The message arrives, but its answer does not; perhaps the server does not list tasks either.
    const remote = await connect(foreign.url, {
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const body = request.method === "POST" ? await request.clone().text() : "";
        if (!lists && body.includes("ListTasks")) return new Response("no", { status: 404 });
        const response = await fetch(request);
        if (!body.includes("SendStreamingMessage") && !body.includes("SendMessage")) return response;
        while (foreign.messages() === 0) await soon();
        throw new TypeError("fetch failed");
      },
    });
    const near = agent("near", async (task) =>
      task.call(remote, task.text).then(
        ({ text }) => text,
        (error: { code: string }) => error.code,
      ),
    );
    await using world = new World([near]);
    expect(textOfTask(await world.run("near", "hi"))).toBe(expected);
    expect(foreign.messages()).toBe(1);
  });
});

/** What an official server sends on, to an agent of ours, of the message that it received. */
type Forward = (turn: ForeignTurn) => object;

describe("a ring through an official server, over HTTP", () => {
  /** The agent `ring` calls the official server, which calls `ring` with the official client. Returns the result of `ring`, and how often it ran. */
  async function runRing(forward: Forward) {
    let runs = 0;
    let url = "";
    await using foreign = await serveForeign(async (turn) => {
      const client = await new ClientFactory().createFromUrl(`${url}/agents/ring/`);
      const answer = await client
        .sendMessage(
          sdk.SendMessageRequest.fromJSON({
            message: {
              messageId: crypto.randomUUID(),
              role: "ROLE_USER",
              parts: [{ text: turn.text }],
              ...forward(turn),
            },
          }),
        )
        .catch(String);
      if (typeof answer === "string") return turn.finish(`foreign(${answer})`);
      const task = sdk.Task.toJSON(answer as sdk.Task) as Parameters<typeof textOfTask>[0];
      turn.finish(`foreign(${textOfTask(task)})`);
    });
    const ring = agent(
      "ring",
      async (task) => {
        runs += 1;
        return task.call(foreign.url, task.text).then(
          ({ text }) => text,
          (error: { code: string }) => error.code,
        );
      },
      { calls: { perMinute: 4 } },
    );
    const other = agent("other", async () => "");
    await using world = new World([ring, other], { port: 0, outgoing: { http: true, allow: ["loopback"] } });
    url = (await world.server.listen()).url;
    const sent = await (await connect(`${url}/agents/ring`)).send("go");
    return { text: sent.kind === "task" ? textOfTask(sent.task) : "", runs };
  }

  test.each<readonly [string, Forward]>([
    ["the context", ({ contextId }) => ({ contextId })],
    ["the whole message", ({ message }) => sdk.Message.toJSON(message) as object],
  ])("is refused when it would close if the server forwards %s", async (_name, forward) => {
    const { text, runs } = await runRing(forward);
    expect(text).toMatch(/^foreign\(.*Loop detected/);
    expect(runs).toBe(1);
  });

  test("is ended by the limit of calls per minute if the server forwards nothing but the text", async () => {
    expect(await runRing(() => ({}))).toEqual({ text: `${"foreign(".repeat(4)}call-rate))))`, runs: 5 });
  });
});
