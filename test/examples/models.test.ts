import { join } from "node:path";
import { expect, it } from "vitest";
import { connect, type Task, textOf } from "../../src/client.ts";
import { type Agent, createServer } from "../../src/index.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { ROOT } from "../architecture/imports.ts";

/** Serves an example and returns a function that sends it a message and returns the task. */
async function serveExample(name: string, id = "") {
  // The examples have their own compiler settings, so they are loaded by path.
  const { default: example }: { default: Agent | readonly Agent[] } = await import(
    join(ROOT, "examples", "models", name)
  );
  const server = createServer(example, { store: "memory:", port: 0, logger: SILENT_LOGGER, drainTimeout: 0 });
  const { url } = await server.listen();
  const agent = await connect(id === "" ? url : `${url}/agents/${id}`);
  return {
    async send(message: Parameters<typeof agent.send>[0]): Promise<Task> {
      const answer = await agent.send(message);
      if (answer.kind !== "task") throw new Error("Expected a task");
      return answer.task;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const result = (task: Task): string => textOf(task.artifacts?.find(({ name }) => name === "result")?.parts ?? []);

it("the chat remembers what was said in its context, and only there", async () => {
  await using example = await serveExample("chat.ts");
  const first = await example.send("My name is Ada");
  expect(result(first)).toBe("Nice to meet you, Ada.");
  const { contextId } = first;
  expect(result(await example.send({ parts: [{ text: "What is my name?" }], contextId }))).toBe("You are Ada.");
  expect(result(await example.send("What is my name?"))).toBe("You have not told me.");
});

it("the researcher searches, reads the pages it found, and names its sources", async () => {
  await using example = await serveExample("research.ts");
  expect(result(await example.send("Tell me about whales"))).toBe(
    "I search for “whales”.\n\nBlue whales are up to 33 m long. They eat krill. (https://example.org/whales)",
  );
  expect(result(await example.send("Tell me about unicorns"))).toContain("I found nothing.");
});

it("the refund clerk pays small amounts, and asks a person about large ones", async () => {
  await using example = await serveExample("approval.ts");
  expect(result(await example.send("order A1, please: 20"))).toBe("The money is on its way.");
  const asked = await example.send("order B2, please: 500");
  expect(asked.status.state).toBe("input-required");
  const refused = await example.send({ parts: [{ text: "no" }], taskId: asked.id });
  expect(result(refused)).toBe("I could not do that: The caller declined this call.");
  const again = await example.send("order B2, please: 500");
  expect(result(await example.send({ parts: [{ data: { approved: true } }], taskId: again.id }))).toBe(
    "The money is on its way.",
  );
});

it("the handbook answers from the files of its folder, and names the file", async () => {
  await using example = await serveExample("rag.ts");
  expect(result(await example.send("May I book first class for long journeys?"))).toBe(
    "Trains are booked in second class. For journeys of more than six hours, first class is allowed. (travel.md)",
  );
  expect(result(await example.send("Quarks?"))).toBe("The documents say nothing about that.");
});

it("the painter sees the image that is sent, and returns one", async () => {
  await using example = await serveExample("image.ts");
  const image = { raw: "iVBORw0KGgo=", mediaType: "image/png", filename: "cat.png" };
  const task = await example.send({ parts: [{ text: "A <cat>" }, image] });
  expect(result(task)).toBe("I see cat.png (image/png). Here is another one.");
  const [drawing] = task.artifacts?.find(({ name }) => name === "file-1.1")?.parts ?? [];
  expect(drawing?.mediaType).toBe("image/svg+xml");
  expect(Buffer.from(drawing?.raw ?? "", "base64").toString()).toContain("A &lt;cat>");
});

it("the assistant lets its model call a team of other models, and the tree is complete", async () => {
  await using example = await serveExample("team.ts", "assistant");
  const task = await example.send("poster: fresh fish every day");
  expect(result(task)).toBe("Here is your poster: FRESH FISH EVERY");
  expect(task.metadata?.["urn:palaver:extension:calls"]).toMatchObject({ children: [{ agent: "poster" }] });
  expect(result(await example.send("Hello"))).toBe("Write “poster:” and a text.");
});
