import assert from "node:assert/strict";
import { agent, createServer } from "palaver";
import { connect, textOf } from "palaver/client";
import { createJsonStore } from "./json-store.ts";

const shouter = agent({
  name: "Shouter",
  description: "Says it louder.",
  version: "1.0.0",
  async run(task) {
    return task.text.toUpperCase();
  },
});

const store = createJsonStore();
const server = createServer(shouter, { store, port: 0 });
const { url } = await server.listen();
const caller = await connect(url);
const sent = await caller.send("hello");
assert(sent.kind === "task");
const text = textOf(sent.task.artifacts?.[0]?.parts ?? []);
assert.equal(text, "HELLO");
const { tasks } = await store.listAll({ limit: 10 });
assert.deepEqual(
  tasks.map(({ head }) => head.state),
  ["completed"],
);
console.log(text);
await server.close();
await store.close();
