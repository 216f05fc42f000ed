import { describe, expect, it } from "vitest";
import { accepted, type Caller, type MessageInput, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { outputOf, type Task, textOf } from "./neutral.ts";

const WITH_CONTEXTS = DIALECT_CLIENTS.filter(({ version }) => version !== "0.1");

const stateAndText = ({ status }: Task): readonly unknown[] => [status.state, textOf(status.message?.parts)];

/** The message of a peer that sends context ids but no task ids. */
const inContextOf = ({ contextId }: Pick<Task, "contextId">, words: string): MessageInput => ({
  ...text(words),
  contextId,
});

inEveryDialect(WITH_CONTEXTS, ({ caller, textToRun }) => {
  const waited = (messageInput: MessageInput, by: Caller = caller()): Promise<Task> =>
    taskOf(by.send(messageInput, { wait: true }));
  const asks = (): string => textToRun(async (task) => `You said ${await task.ask("Where to?")}`);

  describe("a message that carries only a contextId", () => {
    it("continues the one task of the context that waits for input", async () => {
      const asked = await waited(text(asks()));
      expect(stateAndText(asked)).toEqual(["input-required", "Where to?"]);
      const done = await waited(inContextOf(asked, "Oslo"));
      expect([done.id, done.status.state, outputOf(done)]).toEqual([asked.id, "completed", "You said Oslo"]);
    });

    it("continues it as a stream, also in a context that the caller named", async () => {
      const contextId = crypto.randomUUID();
      const finished = await waited({ ...text(textToRun(async () => "one")), contextId });
      const asked = await waited({ ...text(asks()), contextId });
      const stream = await accepted(caller().stream({ ...text("Oslo"), contextId }));
      await stream.rest();
      const done = await accepted(caller().get(asked.id));
      expect([done.id === finished.id, outputOf(done)]).toEqual([false, "You said Oslo"]);
    });

    it("starts a new task if two tasks wait, or none", async () => {
      const contextId = crypto.randomUUID();
      const first = await waited({ ...text(asks()), contextId });
      const hold = Promise.withResolvers<void>();
      const late = textToRun(async (task) => {
        // The second message is sent before the first task waits; otherwise it would be an answer.
        await hold.promise;
        return task.ask("And you?");
      });
      await waited(inContextOf(first, "Oslo"));
      const pair = await Promise.all(
        [late, late].map((said) => taskOf(caller().send({ ...text(said), contextId }, { wait: false }))),
      );
      hold.resolve();
      for (const { id } of pair)
        await expect.poll(async () => (await accepted(caller().get(id))).status.state).toBe("input-required");
      const fresh = await waited({ ...text(textToRun(async () => "new")), contextId });
      expect([first.id, ...pair.map(({ id }) => id)]).not.toContain(fresh.id);
      expect([fresh.contextId, outputOf(fresh)]).toEqual([contextId, "new"]);
      for (const { id } of pair) expect((await accepted(caller().get(id))).status.state).toBe("input-required");
    });

    it("never answers a question for a secret, an authorisation or a tool, nor one of several", async () => {
      const texts = [
        textToRun(async (task) => `${await task.ask("Password?", { sensitive: true })}`),
        textToRun(async (task) => `${await task.ask("Delete it?", { tool: { name: "delete", input: {} } })}`),
        textToRun(async (task) => {
          await task.requireAuth("Log in");
          return "done";
        }),
        textToRun(async (task) => (await Promise.all([task.ask("One?"), task.ask("Two?")])).join()),
      ];
      for (const opening of texts) {
        const asked = await waited(text(opening));
        const fresh = await waited(
          inContextOf(
            asked,
            textToRun(async () => "new"),
          ),
        );
        expect([fresh.id === asked.id, outputOf(fresh)]).toEqual([false, "new"]);
        expect((await accepted(caller().get(asked.id))).status.state).toBe(asked.status.state);
      }
    });

    it("never answers another caller's task, or another agent's", async () => {
      const ada = caller("actor", { token: "ada" });
      const asked = await waited(text(asks()), ada);
      const ofBob = await waited(
        inContextOf(
          asked,
          textToRun(async () => "Bob's"),
        ),
        caller("actor", { token: "bob" }),
      );
      const ofEcho = await waited(inContextOf(asked, "echoed"), caller("echo", { token: "ada" }));
      expect([outputOf(ofBob), outputOf(ofEcho)]).toEqual(["Bob's", "echoed"]);
      expect((await accepted(ada.get(asked.id))).status.state).toBe("input-required");
    });

    it("is not lost when two messages arrive at the same time", async () => {
      const asked = await waited(text(asks()));
      const echo = textToRun(async (task) => task.text);
      const both = await Promise.all([1, 2].map(() => waited(inContextOf(asked, echo))));
      const outputs = both.map((task) => outputOf(task));
      expect(both.some(({ id }) => id === asked.id)).toBe(true);
      for (const [index, task] of both.entries()) {
        const history = (await accepted(caller().get(task.id, 100))).history ?? [];
        expect([index, task.status.state, history.some(({ parts }) => textOf(parts) === echo)]).toEqual([
          index,
          "completed",
          true,
        ]);
      }
      expect(outputs.join()).toContain(echo);
    });
  });
});

inEveryDialect(
  WITH_CONTEXTS,
  ({ caller, textToRun }) => {
    it("with answerByContext: false, a message that carries only a contextId begins a new task", async () => {
      const asked = await taskOf(
        caller().send(text(textToRun(async (task) => `${await task.ask("Where to?")}`)), { wait: true }),
      );
      const fresh = await taskOf(
        caller().send(
          inContextOf(
            asked,
            textToRun(async () => "new"),
          ),
          { wait: true },
        ),
      );
      expect([fresh.id === asked.id, outputOf(fresh)]).toEqual([false, "new"]);
    });
  },
  { answerByContext: false },
);

inEveryDialect(
  WITH_CONTEXTS,
  ({ caller, textToRun }) => {
    it("is processed once with idempotency, even after the task has continued", async () => {
      const asked = await taskOf(
        caller().send(text(textToRun(async (task) => `${await task.ask("Where to?")}`)), { wait: true }),
      );
      const answer = { ...inContextOf(asked, "Oslo"), messageId: crypto.randomUUID() };
      for (let send = 0; send < 2; send++) {
        const done = await taskOf(caller().send(answer, { wait: true }));
        expect([done.id, outputOf(done)]).toEqual([asked.id, "Oslo"]);
      }
    });
  },
  { idempotency: { window: 60_000 } },
);
