import { expect } from "vitest";
import type { AgentClient, Part } from "../../../src/client.ts";
import { type ScenarioGroup, taskOf } from "../scenario-setup.ts";

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("base64");

export const content: ScenarioGroup = {
  title: "Content, both ways",
  scenarios: [
    {
      operation: "text",
      async run(setup) {
        const parts = [{ text: 'Grüße, 世界 👋\u2028\r\n\0 \\ "' }, { text: "x".repeat(50_000) }];
        expect(await echoed(await setup.connect(), parts)).toMatchObject(parts);
      },
    },
    {
      operation: "files, inline",
      async run(setup) {
        const parts = [{ raw: EVERY_BYTE, mediaType: "image/png" }];
        expect(await echoed(await setup.connect(), parts)).toMatchObject(parts);
      },
    },
    {
      operation: "files, by reference",
      async run(setup) {
        const parts = [{ url: "https://example.org/a%20b.png?x=1&y=2#z", mediaType: "image/png" }];
        expect(await echoed(await setup.connect(), parts)).toMatchObject(parts);
      },
    },
    {
      operation: "names of files",
      needs: "file-names",
      async run(setup) {
        const parts = [
          { raw: EVERY_BYTE, mediaType: "image/png", filename: "Straße 1.png" },
          { url: "https://example.org/b", mediaType: "text/plain", filename: "b.txt" },
        ];
        expect(await echoed(await setup.connect(), parts)).toMatchObject(parts);
      },
    },
    {
      operation: "structured data",
      async run(setup) {
        const data = {
          text: "Grüße",
          numbers: [0, -1, 1.5, 1e21],
          nested: { list: [[], {}, ...(setup.can("null-data") ? [null] : []), true], "a key": "" },
        };
        expect(await echoed(await setup.connect(), [{ data }])).toMatchObject([{ data }]);
      },
    },
    {
      operation: "metadata of parts",
      needs: "part-metadata",
      async run(setup) {
        const parts = [{ text: "x", metadata: { language: "en" } }];
        expect(await echoed(await setup.connect(), parts)).toMatchObject(parts);
      },
    },
    {
      operation: "the same in a stream",
      async run(setup) {
        const parts = [{ text: "look:" }, { raw: EVERY_BYTE, mediaType: "image/png" }, { data: { answer: 42 } }];
        const agent = await setup.connect();
        expect(taskOf(await agent.stream(parts).result()).artifacts?.[0]?.parts).toMatchObject(parts);
      },
    },
  ],
};

/** The parts in the response to a message with these parts. */
async function echoed(agent: AgentClient, parts: readonly Part[]): Promise<readonly Part[]> {
  const { id, artifacts = [] } = taskOf(await agent.send(parts));
  expect((await agent.task(id).get()).artifacts).toEqual(artifacts);
  return artifacts.flatMap((artifact) => artifact.parts);
}
