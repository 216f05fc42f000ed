import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { accepted, refusalOf, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { outputOf, type Part, type Task, textOf } from "./neutral.ts";

inEveryDialect(DIALECT_CLIENTS, ({ caller, textToRun }) => {
  describe("two answers to one question", () => {
    const asksTwice = (): string =>
      textToRun(async (task) => {
        await task.ask("First?");
        // Both answers are stored before the next question is asked.
        await delay(150);
        await task.ask("Second?");
        return "done";
      });

    it("return the next question to both blocking sends", async () => {
      const { id } = await taskOf(caller().send(text(asksTwice()), { wait: true }));
      const both = ["1", "2"].map((words) => taskOf(caller().send({ ...text(words), taskId: id }, { wait: true })));
      for (const { status } of await Promise.all(both)) {
        expect([status.state, textOf(status.message?.parts)]).toEqual(["input-required", "Second?"]);
      }
    });

    it("end both streams with the next question", async () => {
      const { id } = await taskOf(caller().send(text(asksTwice()), { wait: true }));
      const both = ["1", "2"].map(async (words) => {
        const stream = await accepted(caller().stream({ ...text(words), taskId: id }));
        return stream.rest();
      });
      for (const frames of await Promise.all(both)) {
        const last = frames.at(-1);
        const status = last?.kind === "task" ? last.task.status : last?.kind === "status" ? last.status : undefined;
        expect([status?.state, textOf(status?.message?.parts)]).toEqual(["input-required", "Second?"]);
      }
    });
  });

  describe("several open questions", () => {
    const asksBoth = (): string =>
      textToRun(async (task) =>
        (await Promise.all([task.ask("Send the mail?"), task.ask("Delete all files?")])).join("|"),
      );

    /** Request ids by prompt. */
    function openIn({ status }: Task): Readonly<Record<string, string>> {
      const { inputRequests, inputRequest } = status.message?.metadata ?? {};
      // Unchecked cast: the test checks the value.
      const requests = (inputRequests ?? [inputRequest]) as { prompt: string; requestId: string }[];
      return Object.fromEntries(requests.map(({ prompt, requestId }) => [prompt, requestId]));
    }

    const resultFor = (toolUseId: string | undefined, result: string): Part => ({
      data: { toolUseId: toolUseId ?? "", result },
      metadata: { kind: "tool-result" },
    });

    it("are all in the status, and each is answered by its id", async () => {
      const asked = await taskOf(caller().send(text(asksBoth()), { wait: true }));
      const ids = openIn(asked);
      expect(Object.keys(ids)).toEqual(["Send the mail?", "Delete all files?"]);
      const first = { taskId: asked.id, parts: [resultFor(ids["Delete all files?"], "no")] };
      const partly = await taskOf(caller().send(first, { wait: true }));
      expect([partly.status.state, openIn(partly)]).toEqual([
        "input-required",
        { "Send the mail?": ids["Send the mail?"] },
      ]);
      const second = {
        ...text("yes"),
        taskId: asked.id,
        metadata: { inputRequest: { requestId: ids["Send the mail?"] ?? "" } },
      };
      const done = await taskOf(caller().send(second, { wait: true }));
      expect([done.status.state, outputOf(done)]).toEqual(["completed", "yes|no"]);
    });

    it("refuse an answer without an id or with an unknown one, and do not store it", async () => {
      const asked = await taskOf(caller().send(text(asksBoth()), { wait: true }));
      const ids = openIn(asked);
      for (const parts of [[{ text: "yes" }], [resultFor("unknown", "yes")]]) {
        for (const outcome of [
          await caller().send({ taskId: asked.id, parts }, { wait: true }),
          await caller().stream({ taskId: asked.id, parts }),
        ]) {
          expect(await refusalOf(outcome)).toBe("InvalidParams");
        }
        const { http } = await caller().send({ taskId: asked.id, parts }, { wait: true });
        for (const said of [...Object.keys(ids), ...Object.values(ids)]) expect(http.text).toContain(said);
      }
      const parts = Object.entries(ids).map(([prompt, id]) => resultFor(id, `to ${prompt}`));
      const done = await taskOf(caller().send({ taskId: asked.id, parts }, { wait: true }));
      expect(outputOf(done)).toBe("to Send the mail?|to Delete all files?");
    });
  });
});
