import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type Agent, agent, skill, type TaskContext } from "../../src/engine/agent/agent.ts";
import { TaskFailure } from "../../src/engine/agent/task-failure.ts";
import type { ServerOptions } from "../../src/platform/settings/settings.ts";

/** A transparent PNG of one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/** A WAV file without samples. */
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

type Run = (task: TaskContext<unknown>) => Promise<void>;

/** An agent that is a tool with this name and these arguments. */
function tool(name: string, run: Run, input: z.ZodType = z.object({})): Agent {
  return agent({
    id: name,
    name,
    description: `The tool ${name} of the conformance kit.`,
    version: "1.0.0",
    outputModes: ["*/*"],
    skills: [skill({ id: name, name, description: `Does what the kit expects of ${name}.`, tags: [], input, run })],
  });
}

const data = (task: TaskContext<unknown>): Readonly<Record<string, unknown>> =>
  // Safe cast: the skill's schema is that of an object.
  task.data as Readonly<Record<string, unknown>>;

const NAME = z.object({ name: z.string() });

/** The keywords that the kit expects to find again in `tools/list`. */
const PERSON_SCHEMA = {
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Agents under the names and with the behaviour that the conformance kit of MCP demands. */
export const KIT_AGENTS: readonly Agent[] = [
  tool("greet", async (task) => task.artifact("answer").end(`Hello, ${String(data(task)["name"])}!`), NAME),
  tool(
    "slow_compute",
    async (task) => {
      await task.sleep(Number(data(task)["seconds"]) * 1000);
      await task.artifact("answer").end(`Done: ${String(data(task)["label"])}`);
    },
    z.object({ seconds: z.number(), label: z.string().optional() }),
  ),
  tool("failing_job", async (task) => {
    await task.sleep(1000);
    throw new TaskFailure("The job failed.");
  }),
  tool("protocol_error_job", async () => {
    await sleep(50);
    throw new Error("A programming error.");
  }),
  tool(
    "confirm_delete",
    async (task) => {
      const { confirm } = await task.ask(`Delete ${String(data(task)["filename"])}?`, {
        schema: z.object({ confirm: z.boolean() }),
      });
      await task.artifact("answer").end(confirm ? "Deleted." : "Kept.");
    },
    z.object({ filename: z.string() }),
  ),
  tool("multi_input", async (task) => {
    const schema = z.object({ name: z.string() });
    const answers = await Promise.all([task.ask("First name?", { schema }), task.ask("Second name?", { schema })]);
    await task.artifact("answer").end(answers.map(({ name }) => name).join(", "));
  }),
  tool("test_tool_with_task", async (task) => {
    const { name } = await task.ask("What is your name?", { schema: NAME, name: "user_name" });
    await task.sleep(1500);
    await task.artifact("answer").end(`Hello, ${name}!`);
  }),
  tool("test_simple_text", async (task) => task.artifact("answer").end("This is a simple text response for testing.")),
  tool("test_image_content", async (task) => task.artifact("answer").end({ raw: PNG, mediaType: "image/png" })),
  tool("test_audio_content", async (task) => task.artifact("answer").end({ raw: WAV, mediaType: "audio/wav" })),
  tool("test_embedded_resource", async (task) =>
    task
      .artifact("answer")
      .end({ text: "This is an embedded resource content.", filename: "embedded.txt", mediaType: "text/plain" }),
  ),
  tool("test_multiple_content_types", async (task) => {
    const artifact = task.artifact("answer");
    await artifact.write("Multiple content types test:");
    await artifact.write({ raw: PNG, mediaType: "image/png" });
    await artifact.end({
      text: JSON.stringify({ test: "data", value: 123 }),
      filename: "mixed.json",
      mediaType: "application/json",
    });
  }),
  tool("test_error_handling", async () => {
    throw new TaskFailure("This tool intentionally returns an error for testing");
  }),
  tool("test_tool_with_progress", async (task) => {
    for (const percent of [0, 50, 100]) {
      await task.status(`${percent} %`);
      await sleep(150);
    }
    await task.artifact("answer").end("Finished.");
  }),
  tool(
    "test_elicitation",
    async (task) => {
      const answer = await task.ask(String(data(task)["message"]), {
        schema: z.object({ username: z.string(), email: z.string() }),
      });
      await task.artifact("answer").end(`User response: ${JSON.stringify(answer)}`);
    },
    z.object({ message: z.string() }),
  ),
  tool("test_elicitation_sep1034_defaults", async (task) => {
    const answer = await task.ask("Please review and update the form fields with defaults", {
      schema: z.object({
        name: z.string().default("John Doe"),
        age: z.int().default(30),
        score: z.number().default(95.5),
        status: z.enum(["active", "inactive", "pending"]).default("active"),
        verified: z.boolean().default(true),
      }),
    });
    await task.artifact("answer").end(`Elicitation completed: ${JSON.stringify(answer)}`);
  }),
  tool("test_elicitation_sep1330_enums", async (task) => {
    const titled = [
      { const: "value1", title: "First Option" },
      { const: "value2", title: "Second Option" },
      { const: "value3", title: "Third Option" },
    ];
    const options = ["option1", "option2", "option3"];
    const answer = await task.ask("Please select options from the enum fields", {
      schema: z.object({}).loose(),
      jsonSchema: {
        type: "object",
        properties: {
          untitledSingle: { type: "string", enum: options },
          titledSingle: { type: "string", oneOf: titled },
          legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
          untitledMulti: { type: "array", items: { type: "string", enum: options } },
          titledMulti: { type: "array", items: { anyOf: titled } },
        },
      },
    });
    await task.artifact("answer").end(`Elicitation completed: ${JSON.stringify(answer)}`);
  }),
  tool("test_input_required_result_elicitation", async (task) => {
    const { name } = await task.ask("What is your name?", { schema: NAME, name: "user_name" });
    await task.artifact("answer").end(`Hello, ${name}!`);
  }),
  ...["test_input_required_result_request_state", "test_input_required_result_tampered_state"].map((name) =>
    tool(name, async (task) => {
      await task.ask("Please confirm", { schema: z.object({ ok: z.boolean() }), name: "confirm" });
      await task.artifact("answer").end("state-ok");
    }),
  ),
  tool("test_input_required_result_multi_round", async (task) => {
    const { name } = await task.ask("Step 1: What is your name?", { schema: NAME, name: "step1" });
    const { color } = await task.ask("Step 2: What is your favorite color?", {
      schema: z.object({ color: z.string() }),
      name: "step2",
    });
    await task.artifact("answer").end(`${name} likes ${color}.`);
  }),
  tool("test_streaming_elicitation", async (task) => {
    const { name } = await task.ask("What is your name?", { schema: NAME });
    await task.artifact("answer").end(name);
  }),
  tool("test_logging_tool", async (task) => {
    task.log.info("A line for operators, not for clients.");
    await task.artifact("answer").end("Logged.");
  }),
  // Serves the check that a missing capability of the client is reported.
  tool("test_missing_capability", async (task) => task.artifact("answer").end("Never reached.")),
  tool(
    "route",
    async (task) => task.artifact("answer").end(`Sent to ${String(data(task)["region"])}.`),
    z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
  ),
  agent({
    id: "json_schema_2020_12_tool",
    name: "json_schema_2020_12_tool",
    description: "A tool with a schema that uses all of draft 2020-12.",
    version: "1.0.0",
    skills: [
      skill({
        id: "check",
        name: "Check",
        description: "Accepts a person.",
        tags: [],
        input: z.object({}).loose(),
        jsonSchema: PERSON_SCHEMA,
        run: async (task) => task.artifact("answer").end("ok"),
      }),
    ],
  }),
];

/** Server options for these agents: which tools must be tasks, and how soon a call becomes one. */
export const KIT_OPTIONS: ServerOptions = {
  grpc: false,
  mcp: {
    taskAfter: 300,
    pollInterval: 100,
    tasks: {
      failing_job: "required",
      protocol_error_job: "required",
      confirm_delete: "required",
      multi_input: "required",
      test_missing_capability: "required",
      greet: "never",
    },
  },
};
