import { agent } from "palaver";
import { afterEach, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { textOf } from "../../src/protocol/part.ts";
import { openSite, type Site } from "./own-server.ts";

let site: Site | undefined;
afterEach(async () => {
  await site?.close();
  site = undefined;
});

/** A stream that ends immediately and regularly, as from a server that is shutting down. */
function endedStream(): Response {
  return new Response("", { status: 200, headers: { "content-type": "text/event-stream" } });
}

it("a client of a restarting server that ends streams receives every event once, before and after a question", async () => {
  const isClosed = Promise.withResolvers<void>();
  const writes = agent({
    id: "writes",
    name: "Writes",
    description: "Writes, asks, and writes.",
    version: "1.0.0",
    async run(task) {
      const out = task.artifact("out");
      await out.write("0;");
      await task.flush();
      await isClosed.promise;
      for (const index of [1, 2, 3]) {
        await out.write(`${index};`);
        await task.flush();
      }
      await out.write(`${await task.ask("Who?")};`);
    },
  });
  site = await openSite(writes, {});
  let ended = 0;
  const restarting: typeof fetch = async (input, init) => {
    const body = typeof init?.body === "string" ? init.body : "";
    if (body.includes("SubscribeToTask") && ended < 4) {
      ended += 1;
      if (ended === 2) isClosed.resolve();
      return endedStream();
    }
    const response = await fetch(input, init);
    if (!body.includes("SendStreamingMessage") || body.includes('"taskId"')) return response;
    // The first stream is cut after the first chunk.
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("0;")) text += (await reader?.read())?.value ?? "";
    await reader?.cancel();
    return new Response(text, { status: 200, headers: response.headers });
  };
  const remote = await connect(site.url, {
    fetch: restarting,
    version: "1.0",
    binding: "JSONRPC",
    retry: { baseDelay: 1, maxDelay: 5 },
    poll: { first: 5, most: 20 },
  });
  const seen: string[] = [];
  for await (const event of remote.stream("go", { onInput: () => "Ada" })) {
    if (event.kind === "artifact") seen.push(textOf(event.artifact.parts));
    else if (event.kind === "status") seen.push(event.status.state);
  }
  expect(ended).toBe(4);
  expect(seen.filter((line) => line !== "")).toEqual([
    "working",
    "0;",
    "1;",
    "2;",
    "3;",
    "input-required",
    "working",
    "Ada;",
    "completed",
  ]);
});
