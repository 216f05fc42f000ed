import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createServer } from "palaver";
import { connect } from "palaver/client";
import greeter from "./agent.ts";
import { createApp } from "./app.ts";

test("serves its own pages and the agent", async () => {
  const agents = createServer(greeter, { store: "memory:", publicUrl: "http://127.0.0.1/assistant" });
  const listener = createApp(agents).listen(0, "127.0.0.1");
  try {
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    const page = await fetch(`http://127.0.0.1:${port}/hello`);
    assert.deepEqual(await page.json(), { hello: "from the application" });
    const { card } = await connect(`http://127.0.0.1:${port}/assistant`);
    assert.equal(card.name, "Greeter");
  } finally {
    listener.close();
    await agents.close();
  }
});
