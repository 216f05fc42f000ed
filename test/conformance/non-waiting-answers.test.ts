import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accepted, taskOf, text } from "./dialect-client.ts";
import { plainAt } from "./dialect-clients/plain.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { textOf } from "./neutral.ts";
import { openTestServer, type TestServer } from "./test-server.ts";

const NEVER = new Promise<never>(() => {});

inEveryDialect(
  DIALECT_CLIENTS,
  ({ caller, textToRun }) => {
    const asked = async (words: string): Promise<string> => {
      const { id } = await taskOf(caller().send(text(words), { wait: false }));
      await expect.poll(async () => (await accepted(caller().get(id))).status.state).toBe("input-required");
      return id;
    };

    describe("a send that answers a question and does not wait", () => {
      it("returns the working task, not the question again", async () => {
        const id = await asked(
          textToRun(async (task) => {
            await task.ask("Where to?");
            await NEVER;
          }),
        );
        const { status } = await taskOf(caller().send({ ...text("Oslo"), taskId: id }, { wait: false }));
        expect(status.state).toBe("working");
      });

      it("returns the next question if that is asked at once", async () => {
        const id = await asked(
          textToRun(async (task) => {
            await task.ask("Where to?");
            await task.ask("When?");
          }),
        );
        const { status } = await taskOf(caller().send({ ...text("Oslo"), taskId: id }, { wait: false }));
        expect(textOf(status.message?.parts)).not.toBe("Where to?");
      });
    });
  },
  { blockingDefault: { "0.1/jsonrpc": "return" } },
);

describe("plain", () => {
  let testServer: TestServer;
  beforeAll(async () => {
    testServer = await openTestServer();
  });
  afterAll(() => testServer[Symbol.asyncDispose]());

  it("a send that answers a question returns the task with the answer after the question", async () => {
    const plain = plainAt(testServer.url);
    const message = testServer.textToRun(async (task) => {
      await task.ask("Where to?");
      await NEVER;
    });
    const { id } = await plain.send({ message });
    await expect.poll(async () => (await plain.get(id)).said.at(-1)).toEqual(["agent", "Where to?"]);
    const { state, said } = await plain.send({ taskId: id, message: "Oslo" });
    expect([state, said.at(-1)]).toEqual(["working", ["user", "Oslo"]]);
  });
});
