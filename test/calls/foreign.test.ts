import { describe, expect, test } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { serveForeign } from "./foreign-server.ts";
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
