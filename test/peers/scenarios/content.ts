import type { Part } from "palaver";
import { expect } from "vitest";
import type { Peer } from "../client-line.ts";
import { type ScenarioGroup, taskOf } from "../scenario.ts";

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("base64");

export const content: ScenarioGroup = {
  title: "Content, both ways",
  scenarios: [
    {
      operation: "text",
      async run(setup) {
        const echo = await setup.connect("echo");
        const parts = [{ text: "" }, { text: 'Grüße, 世界 👋\u2028\r\n\0 \\ "' }, { text: "x".repeat(1_000_000) }];
        // Adjacent texts of an artifact are one part.
        const text = parts.map((part) => part.text).join("");
        expect(await echoed(echo, parts.slice(1))).toEqual([{ text }]);
      },
    },
    {
      operation: "files, inline",
      async run(setup) {
        const echo = await setup.connect("echo");
        const parts = [
          { raw: EVERY_BYTE, mediaType: "image/png" },
          { raw: Buffer.alloc(1_000_000, "ab").toString("base64"), mediaType: "application/octet-stream" },
        ];
        expect(await echoed(echo, parts)).toEqual(parts);
      },
    },
    {
      operation: "files, by reference",
      async run(setup) {
        const echo = await setup.connect("echo");
        const parts = [{ url: "https://example.org/a%20b.png?x=1&y=2#z", mediaType: "image/png" }];
        expect(await echoed(echo, parts)).toEqual(parts);
      },
    },
    {
      operation: "names of files",
      needs: "file-names",
      async run(setup) {
        const echo = await setup.connect("echo");
        const parts = [
          { raw: EVERY_BYTE, mediaType: "image/png", filename: "Straße 1.png" },
          { url: "https://example.org/b", mediaType: "text/plain", filename: "b.txt" },
        ];
        expect(await echoed(echo, parts)).toEqual(parts);
      },
    },
    {
      operation: "structured data",
      async run(setup) {
        const echo = await setup.connect("echo");
        const data = {
          text: "Grüße",
          numbers: [0, -1, 1.5, 1e21, Number.MAX_SAFE_INTEGER],
          nested: { list: [[], {}, ...(setup.can("null-data") ? [null] : []), true, false], "a key with spaces": "" },
        };
        expect(await echoed(echo, [{ data }])).toEqual([{ data }]);
      },
    },
    {
      operation: "structured data other than objects",
      needs: "any-data",
      async run(setup) {
        const echo = await setup.connect("echo");
        const parts = [{ data: [1, "two", null] }, { data: "text" }, { data: 0 }, { data: false }];
        expect(await echoed(echo, parts)).toEqual(parts);
      },
    },
    {
      operation: "structured data other than objects, from the agent",
      needs: "null-data",
      async run(setup) {
        const mirror = await setup.connect("mirror");
        const task = taskOf(await mirror.send({ content: "list" }));
        const list = [1, "two", null, { three: 3 }];
        const part = task.artifacts.find(({ name }) => name === "list")?.parts[0];
        // A server that assumes 0.2 sends the data as JSON text.
        if (part?.text !== undefined) {
          expect([setup.line.protocol, JSON.parse(part.text)]).toEqual(["0.2", list]);
          return;
        }
        expect(part?.data).toEqual(setup.line.rules.bareData === "as it is" ? list : { value: list });
      },
    },
    {
      operation: "several parts at once",
      async run(setup) {
        const echo = await setup.connect("echo");
        const parts = [
          { text: "look:" },
          { raw: EVERY_BYTE, mediaType: "image/png" },
          { data: { answer: 42 } },
          { url: "https://example.org/", mediaType: "text/html" },
          { text: "there" },
        ];
        expect(await echoed(echo, parts)).toEqual(parts);
      },
    },
    {
      operation: "metadata of requests, messages and artifacts",
      async run(setup) {
        const mirror = await setup.connect("mirror");
        const metadata = { "https://example.org/key": { list: [1, "two"] } };
        const task = taskOf(await mirror.send({ content: "x", metadata, requestMetadata: { trace: "abc" } }));
        const [seen] = task.artifacts;
        expect(seen?.parts[0]?.data).toMatchObject({ messageMetadata: metadata, metadata: { trace: "abc" } });
        expect(seen).toMatchObject({
          name: "seen",
          description: "What reached the agent",
          metadata: { made: "by the mirror" },
        });
        expect(task.history[0]?.metadata).toMatchObject(metadata);
      },
    },
    {
      operation: "metadata of parts",
      needs: "part-metadata",
      async run(setup) {
        const mirror = await setup.connect("mirror");
        const metadata = { language: "en" };
        const task = taskOf(await mirror.send({ content: [{ text: "x", metadata }] }));
        const [part] = task.artifacts[0]?.parts ?? [];
        expect(part?.data).toMatchObject({ partMetadata: metadata });
        expect(part?.metadata).toEqual({ kind: "mirror image" });
      },
    },
  ],
};

/** The parts in the response to a message with these parts. */
async function echoed(echo: Peer, parts: readonly Part[]): Promise<readonly Part[]> {
  const task = taskOf(await echo.send({ content: parts }));
  // GetTask returns the same artifacts.
  expect((await echo.get(task.id)).artifacts).toEqual(task.artifacts);
  return task.artifacts.flatMap((artifact) => artifact.parts);
}
