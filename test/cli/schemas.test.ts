import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { connect } from "../../src/client/connect.ts";
import { skillMessage } from "../../src/client/skill-message.ts";
import { agent, skill } from "../../src/engine/agent/agent.ts";
import { createLogger } from "../../src/platform/create-logger.ts";
import { createServer, type Server } from "../../src/platform/create-server.ts";
import { Terminal } from "./terminal.ts";

const order = z.object({ size: z.enum(["small", "large"]), count: z.number() });
const pizza = agent({
  name: "Pizza",
  description: "Takes orders.",
  version: "1",
  skills: [
    skill({
      id: "order",
      name: "Order",
      description: "Takes an order.",
      tags: ["food"],
      input: order,
      run: async (task) => `${task.data.count} ${task.data.size}`,
    }),
    skill({
      id: "talk",
      name: "Talk",
      description: "Asks what you want.",
      tags: ["food"],
      async run(task) {
        await task.toolCall({ id: "c1", name: "menu", input: { day: "Monday" } });
        const { size, count } = await task.ask("What would you like?", { schema: order });
        return `${count} ${size}`;
      },
    }),
  ],
  route: () => "talk",
});

let server: Server;
let url: string;
const terminal = new Terminal();
beforeAll(async () => {
  const logger = createLogger({ level: "silent", pretty: false });
  server = createServer([pizza], { store: "memory:", port: 0, logger, drainTimeout: 0 });
  ({ url } = await server.listen());
});
afterAll(() => server.close());
beforeEach(() => terminal.open());
afterEach(() => terminal.close());

/** A user who types these lines. */
function typing(...lines: string[]): { readonly prompt: () => Promise<string | undefined> } {
  return { prompt: async () => lines.shift() };
}

describe("palaver send", () => {
  const argv = ["send", "hungry", "--metadata", '{"skillId":"talk"}'];

  test("on a terminal asks for an answer by the schema of the question", async () => {
    const { code, stdout, stderr } = await terminal.run([...argv, "-a", url], { context: typing("large", "x", "3") });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("State: TASK_STATE_COMPLETED");
    expect(stdout).toContain("3 large");
    expect(stderr).toContain("What would you like?");
  });

  test("leaves the question open if the input ends, if there is no terminal, and with JSON output", async () => {
    for (const [context, more] of [
      [typing("large"), []],
      [{}, []],
      [typing("large", "3"), ["-o", "json"]],
    ] as const) {
      const { code, stdout } = await terminal.run([...argv, "-a", url, ...more], { context });
      expect(code).toBe(0);
      expect(stdout).toContain("TASK_STATE_INPUT_REQUIRED");
    }
  });

  test("--stream shows tool calls and the form of an answer as one line each", async () => {
    const { stdout } = await terminal.run([...argv, "-a", url, "--stream"]);
    expect(stdout).toContain('Tool call: menu {"day":"Monday"} (c1)\n');
    expect(stdout).toContain('Answer with: { size: "small" | "large"; count: number }\n');
  });
});

test("palaver card types prints the types of the data of the skills", async () => {
  const { code, stdout } = await terminal.run(["card", "types", "-a", url]);
  expect(code).toBe(0);
  expect(stdout).toContain('  order: { size: "small" | "large"; count: number };\n  talk: unknown;\n}');
});

test("skillMessage sends typed data to a skill", async () => {
  const message = skillMessage<{ order: { size: "small" | "large"; count: number }; talk: unknown }>();
  const client = await connect(url);
  // @ts-expect-error: a size that does not exist
  message("order", { size: "huge", count: 1 });
  const sent = await client.send(message("order", { size: "small", count: 2 }));
  expect(sent).toMatchObject({ task: { artifacts: [{ parts: [{ text: "2 small" }] }] } });
});
