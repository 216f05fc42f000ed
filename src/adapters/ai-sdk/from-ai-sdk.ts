import { type Agent, agent } from "../../engine/agent/agent.ts";
import { conversationOf } from "../frameworks/conversation.ts";
import { type FrameworkOptions, splitOptions } from "../frameworks/framework-options.ts";
import { runFramework } from "../frameworks/run-framework.ts";
import type { AiSdkAgent } from "./ai-sdk-agent.ts";
import { runAiSdk } from "./run-ai-sdk.ts";

/**
 * Declares an agent that an agent of the AI SDK runs, such as a `ToolLoopAgent`. Each of its steps (a model call and its tools) is stored: after a
 * crash, stored steps are not done again. Calls that need the approval of a user (`toolApproval`) become questions; tools without `execute` are run by the caller. Throws a
 * `TypeError` for an invalid declaration.
 */
export function fromAiSdk(aiSdkAgent: AiSdkAgent, options: FrameworkOptions): Agent {
  if (typeof aiSdkAgent?.stream !== "function")
    throw new TypeError("fromAiSdk(): the first argument must be an agent of the AI SDK, such as a ToolLoopAgent.");
  const { adapter, definition } = splitOptions(options);
  return agent({
    ...definition,
    run: async (task) => {
      const conversation = await conversationOf(task, adapter);
      await runFramework(task, { run: (run) => runAiSdk(aiSdkAgent, conversation, run) }, adapter);
    },
  });
}
