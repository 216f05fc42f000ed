import { describe, expect, it } from "vitest";
import { accepted, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";

inEveryDialect(DIALECT_CLIENTS, ({ dialectClient, caller, textToRun }) => {
  describe("metadata that an agent sets on its task", () => {
    const counts = (): string =>
      textToRun(async (task) => {
        await task.setMetadata({ usage: { tokens: 1 }, model: "small", draft: true });
        await task.setMetadata({ usage: { tokens: 2 }, draft: null });
        return "done";
      });
    const expected = { usage: { tokens: 2 }, model: "small" };

    it("is in the response, in gets and in lists", async () => {
      const sent = await taskOf(caller().send(text(counts()), { wait: true }));
      expect(sent.metadata).toEqual(expected);
      expect((await accepted(caller().get(sent.id))).metadata).toEqual(expected);
      if (dialectClient.rules.list === "none") return;
      const { tasks } = await accepted(caller().list({ pageSize: 100 }));
      expect(tasks.find(({ id }) => id === sent.id)?.metadata).toEqual(expected);
    });

    it("is in the last event of a stream", async () => {
      const frames = await (await accepted(caller().stream(text(counts())))).rest();
      const last = frames.at(-1);
      expect(last?.kind === "status" ? last.metadata : undefined).toEqual(expected);
    });
  });

  describe("metadata of an artifact", () => {
    it("can be set and changed with a later write and with the end", async () => {
      const usage = { tokens: 0 };
      const said = textToRun(async (task) => {
        await task.artifact("notes").write("one");
        await task.flush();
        await task.artifact("notes", { metadata: { source: "a" } }).write(" two");
        await task.flush();
        usage.tokens = 5;
        await task.artifact("notes", { metadata: usage }).write(" three");
        usage.tokens = 7;
        await task.artifact("notes", { metadata: usage }).end();
      });
      const frames = await (await accepted(caller().stream(text(said)))).rest();
      const given = frames.flatMap((frame) => (frame.kind === "artifact" ? [frame.artifact.metadata] : []));
      expect(given).toEqual([undefined, { source: "a" }, { tokens: 5 }, { tokens: 7 }]);
      const [, , first] = frames;
      const taskId = first?.kind === "artifact" || first?.kind === "status" ? first.taskId : "";
      const { artifacts = [] } = await accepted(caller().get(taskId));
      expect(artifacts.map(({ metadata }) => metadata)).toEqual([{ tokens: 7 }]);
      expect(artifacts.flatMap(({ parts }) => parts.map((part) => part.text)).join("")).toBe("one two three");
    });
  });
});
