import type { CheckpointSaverClass } from "./turn-saver.ts";

/** What is used of the package `@langchain/langgraph`. */
export interface LangGraphModule {
  readonly BaseCheckpointSaver: CheckpointSaverClass;
  /** Continues a graph after an interrupt. */
  readonly Command: new (command: {
    readonly resume: unknown;
  }) => object;
}

/** Loads `@langchain/langgraph`. Rejects with an error that says how to install it. */
export async function loadLangGraph(): Promise<LangGraphModule> {
  try {
    // @ts-expect-error The package is an optional peer, which is not installed here.
    const loaded: unknown = await import("@langchain/langgraph");
    // Safe cast: the package has these exports.
    return loaded as LangGraphModule;
  } catch (cause) {
    throw new Error("fromLangGraph() needs the package @langchain/langgraph. Run: npm install @langchain/langgraph", {
      cause,
    });
  }
}
