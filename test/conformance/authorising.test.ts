import { encryptTo } from "palaver/client";
import { describe, expect, it } from "vitest";
import { accepted, receivedState, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { outputOf, type Task } from "./neutral.ts";

inEveryDialect(DIALECT_CLIENTS, ({ dialectClient, caller, textToRun }) => {
  interface Need {
    readonly requestId: string;
    readonly key: object;
  }

  function needOf(task: Task): Need {
    const part = task.status.message?.parts.find(({ metadata }) => metadata?.["kind"] === "auth-request");
    // Unchecked cast: the test checks the value.
    return part?.data as Need;
  }

  describe("a request for authorisation", () => {
    it("is sent as text and as data, and answered by a message", async () => {
      const opening = textToRun(async (task) => {
        await task.requireAuth({ message: "May I?", schemes: ["sso", { type: "oauth2" }], description: "To read" });
        return "thanks";
      });
      const task = await taskOf(caller().send(text(opening), { wait: true }));
      expect(task.status.state).toBe(receivedState(dialectClient, "auth-required"));
      expect(task.status.message?.parts).toMatchObject([
        { text: "May I?" },
        {
          data: { requestId: expect.any(String), schemes: ["sso", { type: "oauth2" }], description: "To read" },
          metadata: { kind: "auth-request" },
        },
      ]);
      const done = await taskOf(caller().send({ ...text("yes"), taskId: task.id }, { wait: true }));
      expect([done.status.state, outputOf(done)]).toEqual(["completed", "thanks"]);
    });

    it("may ask for a secret, which is answered encrypted or as plain text and never shown", async () => {
      for (const isEncrypted of [true, false]) {
        const opening = textToRun(async (task) => {
          const secret = await task.requireAuth({ message: "Token?", secret: true });
          return secret === "swordfish" ? "right" : "wrong";
        });
        const asked = await taskOf(caller().send(text(opening), { wait: true }));
        const parts = isEncrypted
          ? [{ data: { jwe: await encryptTo(needOf(asked).key, "swordfish") } }]
          : [{ text: "swordfish" }];
        const outcome = await caller().send({ parts, taskId: asked.id }, { wait: true });
        const done = await taskOf(outcome);
        expect([done.status.state, outputOf(done)]).toEqual(["completed", "right"]);
        const after = await accepted(caller().get(asked.id, dialectClient.rules.wholeHistory));
        for (const seen of [done, after]) expect(JSON.stringify(seen)).not.toMatch(/swordfish|jwe/);
      }
    });
  });
});
