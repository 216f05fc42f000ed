import { modelAgent } from "../adapters/models/model-agent.ts";
import { type Environment, modelByName } from "../adapters/models/model-by-name.ts";
import type { Model } from "../adapters/models/model-contract.ts";
import { scriptedModel } from "../adapters/models/scripted-model.ts";
import { type Tool, tool } from "../adapters/models/tool.ts";
import type { Agent, TaskContext } from "../engine/agent/agent.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { answerSchema } from "./answer-schema.ts";
import { calculate } from "./arithmetic.ts";
import { scriptedAnswer } from "./assistant-script.ts";

const WORD_PAUSE = 15;
const DEFAULT_MODEL = "gpt-5-mini";
const NOTES = "notes";

/**
 * An assistant with tools and a memory. Its model is a script, so it needs no key; with `OPENAI_BASE_URL` it is the model `OPENAI_MODEL` at that address.
 */
export function createAssistant(environment: Environment): Agent {
  return modelAgent({
    id: "assistant",
    name: "Assistant",
    description:
      "A language model with tools and a memory. Without OPENAI_BASE_URL, a small script stands for the model.",
    version: "1.0.0",
    model: assistantModel(environment),
    instructions:
      "You are a friendly assistant. Answer in one or two sentences. Use your tools for time, arithmetic and notes.",
    tools: { clock, calculate: calculator, remember, recall, forget },
    skills: [
      {
        id: "chat",
        name: "Chat",
        description:
          "Answers, calculates, and remembers what you tell it in this conversation. Deleting notes needs your approval.",
        tags: ["demo", "model", "tools", "memory"],
        examples: ["What is 6 * 7?", "Remember that I like tea", "What do you know?", "Forget everything"],
      },
    ],
  });
}

function assistantModel(environment: Environment): Model {
  let problem: string | undefined;
  if (environment["OPENAI_BASE_URL"]) {
    try {
      return modelByName(`openai/${environment["OPENAI_MODEL"] || DEFAULT_MODEL}`, environment);
    } catch (error) {
      // The other demonstration agents must start nevertheless.
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  return scriptedModel((messages) => scriptedAnswer(messages, problem), { pause: WORD_PAUSE });
}

const clock: Tool = tool({
  description: "The current date and time.",
  repeatable: true,
  execute: () => new Date().toISOString(),
});

const calculator: Tool = tool({
  description: "Calculates an expression with numbers, + - * / and parentheses.",
  input: textMember("expression"),
  jsonSchema: objectWith("expression"),
  repeatable: true,
  execute: (expression) => calculate(expression),
});

const remember: Tool = tool({
  description: "Writes a note for this conversation.",
  input: textMember("note"),
  jsonSchema: objectWith("note"),
  repeatable: true,
  async execute(note, { task }) {
    const notes = await notesOf(task);
    const all = notes.includes(note) ? notes : [...notes, note];
    await task.context.set(NOTES, [...all]);
    return [...all];
  },
});

const recall: Tool = tool({
  description: "The notes of this conversation.",
  repeatable: true,
  execute: async (_input, { task }) => [...(await notesOf(task))],
});

const forget: Tool = tool({
  description: "Deletes all notes of this conversation.",
  approve: true,
  repeatable: true,
  async execute(_input, { task }): Promise<JsonValue> {
    await task.context.delete(NOTES);
    return null;
  },
});

async function notesOf(task: TaskContext): Promise<readonly string[]> {
  const notes = await task.context.get(NOTES);
  return Array.isArray(notes) ? notes.map(String) : [];
}

/** The text of one member of the input. Real agents use Zod, Valibot or ArkType. */
function textMember(name: string) {
  return answerSchema((input): string => {
    const value: unknown = typeof input === "object" && input !== null ? Reflect.get(input, name) : undefined;
    if (typeof value !== "string" || value === "") throw new Error(`{ "${name}": a text }, please`);
    return value;
  });
}

function objectWith(name: string): JsonObject {
  return { type: "object", properties: { [name]: { type: "string" } }, required: [name] };
}
