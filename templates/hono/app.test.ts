import assert from "node:assert/strict";
import { test } from "node:test";
import { createServer } from "palaver";
import { connect } from "palaver/client";
import greeter from "./agent.ts";
import { createApp } from "./app.ts";

test("serves its own pages and the agent", async () => {
  const agents = createServer(greeter, { store: "memory:", publicUrl: "http://localhost/assistant" });
  try {
    const app = createApp(agents);
    const page = await app.request("/hello");
    assert.deepEqual(await page.json(), { hello: "from the application" });
    // No port is needed: requests go straight to the application.
    const { card } = await connect("http://localhost/assistant", {
      fetch: async (input, init) => app.fetch(new Request(input, init)),
    });
    assert.equal(card.name, "Greeter");
  } finally {
    await agents.close();
  }
});
