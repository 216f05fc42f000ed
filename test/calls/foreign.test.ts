import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AGENT_CARD_PATH } from "a2a-sdk-v1";
import { afterEach, describe, expect, test } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { agent, textOfTask, World } from "./world.ts";
import { serveForeign } from "./foreign-server.ts";

describe("an official server", () => {
  test("is called, streams, and is canceled with its caller", async () => {
    await using foreign = await serveForeign(async ({ text, finish, canceled }) => {
      if (text === "wait") await canceled;
      else finish(`foreign ${text}`);
    });
    const near = agent("near", async (task) => (await task.call(foreign.url, task.text)).text);
    await using world = new World([near], { outgoing: { http: true, allow: ["loopback"] } });
    expect(textOfTask(await world.run("near", "hi"))).toBe("foreign hi");
    const sent = await (await world.client("near")).send("wait", { wait: false });
    const id = sent.kind === "task" ? sent.task.id : "";
    while (foreign.states().at(-1) !== "working") await new Promise((resolve) => setTimeout(resolve, 10));
    await (await world.client("near")).task(id).cancel();
    while (foreign.states().at(-1) !== "canceled") await new Promise((resolve) => setTimeout(resolve, 10));
    expect(foreign.messages()).toBe(2);
  });
});
