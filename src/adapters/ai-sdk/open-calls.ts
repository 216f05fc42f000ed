import type { FrameworkQuestion } from "../frameworks/framework.ts";
import { jsonOf } from "../models/run-tool.ts";
import type { AiSdkAgent, AiSdkPart } from "./ai-sdk-agent.ts";

/** The calls without a result: those that need approval, and those that the caller has to run. */
export class OpenCalls {
  readonly #agent: AiSdkAgent;
  readonly #questions = new Map<string, FrameworkQuestion>();

  constructor(agent: AiSdkAgent) {
    this.#agent = agent;
  }

  note({ type, toolCallId = "", toolName = "", input, approvalId = "", isAutomatic, toolCall }: AiSdkPart): void {
    if (type === "tool-approval-request") {
      if (toolCall === undefined || isAutomatic === true) return;
      const { toolCallId: id, toolName: name } = toolCall;
      this.#questions.set(id, { kind: "approval", key: approvalId, name, input: jsonOf(toolCall.input) });
    } else if (type !== "tool-call") this.#questions.delete(toolCallId);
    else if (this.#isRunByCaller(toolName))
      this.#questions.set(toolCallId, { kind: "tool", key: toolCallId, name: toolName, input: jsonOf(input) });
  }

  questions(): readonly FrameworkQuestion[] {
    return [...this.#questions.values()];
  }

  #isRunByCaller(name: string): boolean {
    const tool: unknown = Object.entries(this.#agent.tools ?? {}).find(([own]) => own === name)?.[1];
    return typeof tool === "object" && tool !== null && !("execute" in tool && typeof tool.execute === "function");
  }
}
