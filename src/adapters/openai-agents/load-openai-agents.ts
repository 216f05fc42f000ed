import type { OpenAIAgent, OpenAIRunner, OpenAIRunState } from "./openai-agent.ts";

/** What is used of the package `@openai/agents`. */
export interface OpenAIAgentsModule {
  readonly run: OpenAIRunner["run"];
  readonly RunState: { fromString(agent: OpenAIAgent, text: string): Promise<OpenAIRunState> };
}

/** Loads `@openai/agents`. Rejects with an error that says how to install it. */
export async function loadOpenAIAgents(): Promise<OpenAIAgentsModule> {
  try {
    // @ts-expect-error The package is an optional peer, which is not installed here.
    const loaded: unknown = await import("@openai/agents");
    // Safe cast: the package has these exports.
    return loaded as OpenAIAgentsModule;
  } catch (cause) {
    throw new Error("fromOpenAIAgents() needs the package @openai/agents. Run: npm install @openai/agents", { cause });
  }
}
