import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { inEveryDialect } from "./every-dialect.ts";
import { textOf } from "./neutral.ts";
import { accepted, taskOf, text } from "./speaker.ts";
import { SPEAKERS } from "./speakers.ts";

inEveryDialect(SPEAKERS, ({ caller, play }) => {
  describe("two answers to one question", () => {
    const asksTwice = (): string =>
      play(async (task) => {
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
});
