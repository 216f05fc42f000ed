import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { CallTarget } from "../../engine/agent/agent.ts";
import type { Tool, Tools } from "./tool.ts";

/** An agent that the model may call, and its description for the model. */
export interface AgentTool {
  readonly agent: CallTarget;
  /** For the model: what the agent does, and when to call it. */
  readonly description: string;
  /** Milliseconds after which the call fails. Default one hour. */
  readonly timeout?: number;
}

const INPUT_SCHEMA = {
  type: "object",
  properties: {
    message: { type: "string", description: "What the agent should do, with everything it needs to know." },
  },
  required: ["message"],
  additionalProperties: false,
} as const;

const HOUR = 3_600_000;

/**
 * Makes other agents tools of a model: the model sends a message and gets the text of the result. A call continues after a restart, is canceled with the
 * task, counts towards its budget, and questions of the called agent go to the caller of this one. If the call is refused or fails, the model reads why.
 */
export function agentTools(agents: Readonly<Record<string, AgentTool>>): Tools {
  return Object.fromEntries(Object.entries(agents).map(([name, called]) => [name, toolOf(name, called)]));
}

function toolOf(name: string, { agent, description, timeout = HOUR }: AgentTool): Tool {
  return {
    description,
    input: messageInput,
    jsonSchema: INPUT_SCHEMA,
    // The call itself knows what was sent, so a cut off tool continues it.
    repeatable: true,
    timeout,
    async execute(input, { task, key }) {
      // Safe cast: the schema has validated it.
      const { message } = input as { readonly message: string };
      // The key is that of the model's tool call, so it is the same in a replay, whatever the order.
      const { text, data } = await task.call(agent, message, { name: `${name} ${key}` });
      return text === "" && data !== undefined ? data : text;
    },
  };
}

const messageInput: StandardSchemaV1 = {
  "~standard": {
    version: 1,
    vendor: "palaver",
    validate: (value) => {
      const message = typeof value === "object" && value !== null && "message" in value ? value.message : undefined;
      if (typeof message !== "string" || message === "")
        return { issues: [{ message: "message must be a text", path: ["message"] }] };
      return { value: { message } };
    },
  },
};
