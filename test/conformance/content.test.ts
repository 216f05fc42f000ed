import { describe, expect, it } from "vitest";
import { accepted, refusalOf, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import type { Part } from "./neutral.ts";

const BYTES = Buffer.from([0, 1, 2, 127, 128, 254, 255]).toString("base64");

inEveryDialect(DIALECT_CLIENTS, ({ dialectClient, caller, textToRun }) => {
  const { wholeHistory: history, listsExtensions } = dialectClient.rules;

  describe("content", () => {
    it.each<[string, Part]>([
      ["text", { text: 'größer 🌊 \n\t"\\ \u2028 <b>' }],
      ["empty text", { text: "" }],
      ["a file with its bytes", { raw: BYTES, mediaType: "image/png", filename: "a.png" }],
      ["a file without a name", { raw: BYTES }],
      ["a file by reference", { url: "https://example.org/a.png?x=1", mediaType: "image/png", filename: "a.png" }],
      ["data", { data: { nested: { list: [1, "two", null, true, 0.5] }, empty: {}, "a.b": [] } }],
      ["a part's metadata", { text: "x", metadata: { source: "scan", pages: [1, 2] } }],
    ])("is returned unchanged: %s", async (_name, part) => {
      const task = await taskOf(caller("echo").send({ parts: [part] }, { wait: true, history }));
      expect(task.artifacts?.[0]?.parts).toEqual([part]);
      expect(task.history?.[0]?.parts).toEqual([part]);
    });

    it("of several kinds keeps the order of its parts", async () => {
      const parts: Part[] = [{ text: "a" }, { data: { b: 1 } }, { raw: BYTES }, { text: "c" }];
      const task = await taskOf(caller("echo").send({ parts }, { wait: true }));
      expect(task.artifacts?.[0]?.parts).toEqual(parts);
    });

    it("reaches the agent as text, data and files", async () => {
      let seen: unknown;
      const opening = textToRun(async (task) => {
        seen = { text: task.text, data: task.data, files: task.files.map(({ name, bytes }) => [name, bytes?.length]) };
      });
      const parts = [{ text: opening }, { data: { n: 1 } }, { raw: BYTES, filename: "b.bin" }];
      await taskOf(caller().send({ parts }, { wait: true }));
      expect(seen).toEqual({ text: opening, data: { n: 1 }, files: [["b.bin", 7]] });
    });

    it("that the agent writes keeps its names, descriptions, metadata and extensions", async () => {
      const opening = textToRun(async (task) => {
        const options = { description: "What it says", metadata: { made: "here" }, extensions: ["urn:x"] };
        await task
          .artifact("report", options)
          .end({ file: { bytes: Buffer.from("hi"), name: "hi.txt", mediaType: "text/plain" } });
        await task.artifact("numbers").end({ data: { n: 1 } });
      });
      const { artifacts } = await taskOf(caller().send(text(opening), { wait: true }));
      expect(artifacts).toMatchObject([
        {
          name: "report",
          description: "What it says",
          metadata: { made: "here" },
          ...(listsExtensions && { extensions: ["urn:x"] }),
          parts: [{ raw: "aGk=", filename: "hi.txt", mediaType: "text/plain" }],
        },
        { name: "numbers", parts: [{ data: { n: 1 } }] },
      ]);
      expect(new Set(artifacts?.map(({ artifactId }) => artifactId)).size).toBe(2);
    });

    it.each<[string, unknown]>([
      ["a list", [1, "two"]],
      ["a number", 4],
      ["nothing", null],
    ])("that is data but not an object is sent in the form that the version supports: %s", async (_name, value) => {
      const opening = textToRun(async () => ({ data: value as never }));
      const { artifacts } = await taskOf(caller().send(text(opening), { wait: true }));
      const [part] = artifacts?.[0]?.parts ?? [];
      const metadata = { data_part_compat: true };
      if (dialectClient.version === "1.0") expect(part).toEqual({ data: value });
      else if (dialectClient.version === "0.2") expect(part).toEqual({ text: JSON.stringify(value), metadata });
      else expect(part).toEqual({ data: { value }, metadata });
      // It is read back as the same value.
      let seen: unknown = "nothing";
      const listening = textToRun(async (task) => {
        seen = task.message.parts[1]?.data;
      });
      await taskOf(caller().send({ parts: [{ text: listening }, part ?? {}] }, { wait: true }));
      expect(seen).toEqual(value);
    });

    it("has fields that the version does not define in its metadata", async () => {
      const opening = textToRun(async () => [{ text: "# Hi", mediaType: "text/markdown", filename: "hi.md" }]);
      const { artifacts } = await taskOf(caller().send(text(opening), { wait: true }));
      const [part] = artifacts?.[0]?.parts ?? [];
      if (dialectClient.version === "1.0")
        expect(part).toEqual({ text: "# Hi", mediaType: "text/markdown", filename: "hi.md" });
      else expect(part).toEqual({ text: "# Hi", metadata: { mediaType: "text/markdown", filename: "hi.md" } });
    });
  });

  describe("media types", () => {
    const PNG: Part = { raw: BYTES, mediaType: "image/png" };
    const PDF: Part = { raw: BYTES, mediaType: "application/pdf" };

    it("that the agent supports are accepted", async () => {
      const task = await taskOf(caller("picky").send({ parts: [{ text: "hi" }, PNG] }, { wait: true }));
      expect(task.status.state).toBe("completed");
    });

    it.each<[string, readonly Part[], readonly string[] | undefined]>([
      ["a file it does not read", [{ text: "hi" }, PDF], undefined],
      ["data, where it reads none", [{ data: { n: 1 } }], undefined],
      ["an answer it does not write", [{ text: "hi" }], ["image/png"]],
    ])("that do not match are refused before a task is created: %s", async (_name, parts, outputModes) => {
      const options = outputModes === undefined ? {} : { outputModes };
      const mine = caller("picky", { token: `t${crypto.randomUUID().replaceAll("-", "")}` });
      expect(await refusalOf(mine.send({ parts }, { wait: true, ...options }))).toBe("ContentTypeNotSupported");
      expect(await refusalOf(mine.stream({ parts }, options))).toBe("ContentTypeNotSupported");
      if (dialectClient.rules.list !== "none") expect((await accepted(mine.list())).tasks).toEqual([]);
    });

    it.each([["text/plain"], ["text/*"], ["*/*"]])("that match are accepted: %s", async (mode) => {
      const task = await taskOf(caller("picky").send(text("hi"), { wait: true, outputModes: ["image/png", mode] }));
      expect(task.status.state).toBe("completed");
    });
  });
});
