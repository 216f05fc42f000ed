import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer, type Server } from "../platform/create-server.ts";
import { demoAgents } from "./agents.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

describe("the demonstration agents", () => {
  let server: Server;
  let messages = 0;
  beforeAll(() => {
    server = createServer(demoAgents, { store: "memory:", logger: QUIET, publicUrl: "http://demo.test" });
  });
  afterAll(() => server.close());

  const call = async (agent: string, method: string, params: object) => {
    const response = await server.fetch(
      new Request(`http://demo.test/agents/${agent}/`, {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      }),
    );
    const { result, error } = (await response.json()) as { result: Answer; error?: unknown };
    expect(error).toBeUndefined();
    return result;
  };
  const send = (agent: string, parts: readonly object[], taskId?: string) =>
    call(agent, "SendMessage", {
      message: { messageId: `m-${messages++}`, role: "ROLE_USER", parts, ...(taskId && { taskId }) },
    });
  const say = (agent: string, text: string, taskId?: string) => send(agent, [{ text }], taskId);

  it("have valid cards with skills", async () => {
    for (const { id } of demoAgents) {
      const response = await server.fetch(new Request(`http://demo.test/agents/${id}/.well-known/agent-card.json`));
      const card = (await response.json()) as { skills: { examples: string[]; tags: string[] }[] };
      expect(card.skills[0]?.examples.length).toBeGreaterThan(0);
      expect(card.skills[0]?.tags).toContain("demo");
    }
  });

  describe("echo", () => {
    it("returns its input as a task", async () => {
      const parts = [
        { text: "Hello" },
        { data: { answer: 42 } },
        { raw: "aGk=", filename: "hi.txt", mediaType: "text/plain" },
      ];
      const { task } = await send("echo", parts);
      expect(task).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts }] });
    });

    it("returns a message without a task on request", async () => {
      const { message, task } = await say("echo", "message: Hello");
      expect(message).toMatchObject({ role: "ROLE_AGENT", parts: [{ text: "Hello" }] });
      expect(task).toBeUndefined();
    });
  });

  describe("countdown", () => {
    it("counts down with one chunk per second", async () => {
      const { task } = await say("countdown", "from 2 please");
      const texts = task?.artifacts?.[0]?.parts.map(({ text }) => text);
      expect(texts?.join("")).toBe("2 1 Lift-off!");
      expect(task?.status.state).toBe("TASK_STATE_COMPLETED");
    });

    it("can be canceled", async () => {
      const message = { messageId: "m-cancel", role: "ROLE_USER", parts: [{ text: "100" }] };
      const { task } = await call("countdown", "SendMessage", { message, configuration: { returnImmediately: true } });
      await call("countdown", "CancelTask", { id: task?.id });
      // The result of these two methods is the task itself.
      expect(await call("countdown", "GetTask", { id: task?.id })).toMatchObject({
        status: { state: "TASK_STATE_CANCELED" },
      });
    });

    it("rejects numbers that are too large", async () => {
      expect((await say("countdown", "999999")).task?.status.state).toBe("TASK_STATE_REJECTED");
    });
  });

  describe("booking", () => {
    it("asks, repeats a question after an invalid answer, and completes with the booking as data", async () => {
      const { task } = await say("booking", "A table, please");
      const answer = async (text: string) => (await say("booking", text, task?.id)).task;
      const question = (state: typeof task) => state?.status.message?.parts.map(({ text }) => text).join(" ");
      expect(task?.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(question(task)).toMatch(/how many/);
      expect(question(await answer("a crowd"))).toMatch(/number from 1 to 12/);
      expect(question(await answer("4"))).toMatch(/which day/);
      expect(question(await answer("2027-02-30"))).toMatch(/date like/);
      expect(question(await answer("2027-05-17"))).toMatch(/table for 4 on 2027-05-17/);
      expect(await answer("yes")).toMatchObject({
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [
          {
            name: "booking",
            parts: [{ data: { guests: 4, date: "2027-05-17", reference: expect.stringMatching(/^[0-9A-Z]{8}$/) } }],
          },
        ],
      });
    });

    it("gives every booking its own reference", async () => {
      const references = new Set<unknown>();
      for (let booking = 0; booking < 2; booking++) {
        const { task } = await say("booking", "A table, please");
        for (const text of ["2", "2027-05-17"]) await say("booking", text, task?.id);
        const booked = (await say("booking", "yes", task?.id)).task;
        references.add(JSON.stringify(booked?.artifacts?.[0]?.parts));
      }
      expect(references.size).toBe(2);
    });

    it("books nothing if the user declines", async () => {
      const { task } = await say("booking", "A table, please");
      for (const text of ["2", "2027-05-17"]) await say("booking", text, task?.id);
      expect((await say("booking", "no", task?.id)).task?.status.state).toBe("TASK_STATE_REJECTED");
    });
  });

  describe("files", () => {
    it("returns texts in capitals and the checksums of all files", async () => {
      const text = Buffer.from("grüße");
      const image = Buffer.from([0x89, 0x50, 0xff, 0x00]);
      const { task } = await send("files", [
        { raw: text.toString("base64"), filename: "a.txt", mediaType: "text/plain" },
        { raw: image.toString("base64"), filename: "b.png", mediaType: "image/png" },
      ]);
      expect(task?.status.state).toBe("TASK_STATE_COMPLETED");
      const outputs = task?.artifacts?.flatMap(({ parts }) => parts) ?? [];
      const content = outputs.map(({ raw, filename }) => [filename, Buffer.from(raw ?? "", "base64").toString()]);
      const sum = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
      expect(content).toEqual([
        ["a.txt", "GRÜSSE"],
        ["SHA256SUMS", `${sum(text)}  a.txt\n${sum(image)}  b.png\n`],
      ]);
    });

    it("asks for a file if there is none, and downloads no URL", async () => {
      expect((await say("files", "hello")).task?.status.state).toBe("TASK_STATE_REJECTED");
      const { task } = await send("files", [{ url: "http://127.0.0.1:1/x", filename: "x", mediaType: "text/plain" }]);
      expect(task?.status.state).toBe("TASK_STATE_REJECTED");
    });
  });
});

interface Answer {
  readonly message?: unknown;
  readonly task?: {
    readonly id: string;
    readonly status: { readonly state: string; readonly message?: { readonly parts: readonly AnswerPart[] } };
    readonly artifacts?: readonly { readonly parts: readonly AnswerPart[] }[];
  };
}

interface AnswerPart {
  readonly text?: string;
  readonly raw?: string;
  readonly filename?: string;
}
