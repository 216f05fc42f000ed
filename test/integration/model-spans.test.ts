import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { modelAgent } from "../../src/adapters/models/model-agent.ts";
import { openModelServer } from "../../src/adapters/models/test/model-server.ts";
import { tool } from "../../src/adapters/models/tool.ts";
import { connect } from "../../src/client.ts";
import { createServer } from "../../src/server.ts";
import { Terminal } from "../cli/terminal.ts";
import { OtlpReceiver, type ReceivedSpan } from "../fixtures/otlp-receiver.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "palaver-models-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Runs a conversation with two model calls, one tool that works and one that fails. Returns the spans and the task. */
async function conversation(collector: OtlpReceiver): Promise<string> {
  await using models = await openModelServer((messages) =>
    messages.at(-1)?.role === "tool"
      ? { text: ["It has 21 degrees in secret-output."] }
      : {
          calls: [
            { id: "c1", name: "weather", input: '{"city":"secret-input"}' },
            { id: "c2", name: "broken", input: "{}" },
          ],
        },
  );
  const assistant = modelAgent({
    ...{ id: "assistant", name: "Assistant", description: "Helps.", version: "1", model: models.model },
    tools: {
      weather: tool({
        description: "The weather of a city.",
        input: z.object({ city: z.string() }),
        repeatable: true,
        execute: async () => ({ degrees: 21 }),
      }),
      broken: tool({
        description: "Fails.",
        repeatable: true,
        execute: () => Promise.reject(new Error("secret-error")),
      }),
    },
  });
  const server = createServer(assistant, {
    ...{ store: `sqlite:${join(folder, "tasks.db")}`, port: 0, logger: SILENT, otlp: collector.url },
  });
  try {
    const sent = await (await connect((await server.listen()).url)).send("secret-prompt");
    if (sent.kind !== "task") throw new Error("A task was expected.");
    return sent.task.id;
  } finally {
    await server.close();
  }
}

/** In the order of their beginning. */
const byName = (spans: readonly ReceivedSpan[], start: string): readonly ReceivedSpan[] =>
  spans.filter(({ name }) => name.startsWith(start)).sort((a, b) => Number(a.start - b.start));
const byCallId = (a: ReceivedSpan, b: ReceivedSpan): number =>
  String(a.attributes["gen_ai.tool.call.id"]).localeCompare(String(b.attributes["gen_ai.tool.call.id"]));

test("model calls and tool calls are spans of the attempt, with tokens and finish reasons and without contents", async () => {
  await using collector = await OtlpReceiver.open();
  await conversation(collector);
  const [attempt] = byName(collector.spans, "invoke_agent");
  const chats = byName(collector.spans, "chat ");
  expect(chats).toHaveLength(2);
  expect(chats[0]).toMatchObject({
    kind: 3,
    parentSpanId: attempt?.spanId,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 2,
      "gen_ai.response.finish_reasons": { values: [{ stringValue: "tool-calls" }] },
    },
  });
  expect(chats[0]?.name).toBe(`chat ${String(chats[0]?.attributes["gen_ai.request.model"])}`);
  expect(chats[0]?.attributes["gen_ai.response.model"]).toBe(chats[0]?.attributes["gen_ai.request.model"]);
  expect(chats[1]?.attributes["gen_ai.response.finish_reasons"]).toEqual({
    values: [{ stringValue: "stop" }],
  });
  expect(byName(collector.spans, "execute_tool ").toSorted(byCallId)).toMatchObject([
    {
      name: "execute_tool weather",
      parentSpanId: attempt?.spanId,
      attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather" },
      isError: false,
    },
    { name: "execute_tool broken", attributes: { "gen_ai.tool.call.id": "1.2-c2" }, isError: true },
  ]);
  expect(collector.bodies.join()).not.toMatch(/secret-/);
});

test("palaver trace shows them, and exports them with the same ids and attributes", async () => {
  await using live = await OtlpReceiver.open();
  const id = await conversation(live);
  await using later = await OtlpReceiver.open();
  const store = `sqlite:${join(folder, "tasks.db")}`;
  const drawn = await new Terminal().run(["trace", id, "--store", store], { env: { COLUMNS: "100" } });
  expect(drawn.stdout).toMatch(/^ {2}tool weather +completed /m);
  expect(drawn.stdout).toMatch(/^ {2}tool broken +failed /m);
  expect(drawn.stdout).toMatch(/^ {2}model \S+ +completed /m);
  await new Terminal().run(["trace", id, "--store", store, "--otlp", later.url]);
  const shown = ({ spans }: OtlpReceiver) =>
    [...byName(spans, "chat "), ...byName(spans, "execute_tool ").toSorted(byCallId)].map(
      ({ name, spanId, attributes }) => {
        const { "palaver.outcome": _outcome, ...own } = attributes;
        return { name, spanId, own };
      },
    );
  expect(shown(later)).toHaveLength(4);
  expect(shown(later)).toEqual(shown(live));
});
