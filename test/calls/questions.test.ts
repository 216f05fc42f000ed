import { describe, expect, test } from "vitest";
import { z } from "zod";
import { inputRequestsOf, inputSchemaOf } from "../../src/protocol/input-request.ts";
import type { Task } from "../../src/protocol/task.ts";
import { agent, textOfTask, World } from "./world.ts";

const asking = agent("asking", async (task) => {
  const { size } = await task.ask("Which size?", { schema: z.object({ size: z.number() }) });
  return `size ${size}`;
});
const middle = agent("middle", async (task) => (await task.call("asking", task.text)).text);
const top = agent("top", async (task) => (await task.call("middle", task.text)).text);

function questionIn({ status }: Task) {
  const schema = status.message?.parts.map((part) => inputSchemaOf(part)).find((part) => part !== undefined);
  return { requests: inputRequestsOf(status.message), schema };
}

describe("a question of a called agent", () => {
  test("three levels down reaches the caller with its schema, and is answered after a restart", async () => {
    await using world = new World([top, middle, asking]);
    const waiting = await world.run("top", "go");
    expect(waiting.status.state).toBe("input-required");
    const { requests, schema } = questionIn(waiting);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.prompt).toBe("Which size?");
    expect(schema).toEqual({ requestId: requests[0]?.requestId, schema: expect.objectContaining({ type: "object" }) });
    await world.restart();
    const client = await world.client("top");
    const sent = await client.send([{ data: { size: 7 } }], { taskId: waiting.id });
    const ended = sent.kind === "task" ? sent.task : undefined;
    expect(ended?.status.state).toBe("completed");
    expect(ended && textOfTask(ended)).toBe("size 7");
  });

  test("is asked again if the answer does not fit", async () => {
    await using world = new World([top, middle, asking]);
    const waiting = await world.run("top", "go");
    const client = await world.client("top");
    await client.send([{ data: { size: "large" } }], { taskId: waiting.id });
    const again = await world.until("top", waiting.id, "input-required");
    expect(textOfTask(again)).toContain("not valid");
    await client.send([{ data: { size: 3 } }], { taskId: waiting.id });
    expect(textOfTask(await world.until("top", waiting.id, "completed"))).toBe("size 3");
  });

  test("may be answered by the calling agent, once", async () => {
    let asked = 0;
    const answering = agent("answering", async (task) => {
      const { text } = await task.call("asking", "x", {
        onInput: ({ schema, text: question }) => {
          asked++;
          return { size: question === "Which size?" && schema !== undefined ? 5 : 0 };
        },
      });
      return text;
    });
    await using world = new World([answering, asking]);
    expect(textOfTask(await world.run("answering", "go"))).toBe("size 5");
    expect(asked).toBe(1);
  });

  test("ends the call if it answers no questions, and the called task is canceled", async () => {
    const strict = agent("strict", async (task) => {
      const error: unknown = await task.call("asking", "x", { onInput: "fail" }).catch((thrown: unknown) => thrown);
      return (error as { code: string }).code;
    });
    await using world = new World([strict, asking]);
    expect(textOfTask(await world.run("strict", "go"))).toBe("call-needs-input");
    expect((await world.tasks("asking")).map(({ status }) => status.state)).toEqual(["canceled"]);
  });

  test("needs no answer any more if somebody else answers the called task", async () => {
    await using world = new World([middle, asking]);
    const waiting = await world.run("middle", "go");
    const [child] = await world.tasks("asking");
    await (await world.client("asking")).send([{ data: { size: 9 } }], { taskId: child?.id ?? "" });
    expect(textOfTask(await world.until("middle", waiting.id, "completed"))).toBe("size 9");
  });

  test("for an authorisation makes the calling task auth-required", async () => {
    const secured = agent("secured", async (task) => {
      const secret = await task.requireAuth({ message: "The key?", secret: true });
      return `key of ${secret.length}`;
    });
    const caller = agent("caller", async (task) => (await task.call("secured", "x")).text);
    await using world = new World([caller, secured]);
    const waiting = await world.run("caller", "go");
    expect(waiting.status.state).toBe("auth-required");
    await (await world.client("caller")).send("12345", { taskId: waiting.id });
    expect(textOfTask(await world.until("caller", waiting.id, "completed"))).toBe("key of 5");
  });

  test("that asks for a tool of the caller keeps the tool's name and input", async () => {
    const tooling = agent("tooling", async (task) => {
      const answer = await task.ask("Please run it.", { tool: { name: "clock", input: { zone: "UTC" } } });
      return `it is ${answer}`;
    });
    const caller = agent("caller", async (task) => (await task.call("tooling", "x")).text);
    await using world = new World([caller, tooling]);
    const task = await world.run("caller", "go", { tools: { clock: (input) => JSON.stringify(input) } });
    expect(textOfTask(task)).toBe('it is {"zone":"UTC"}');
  });
});
