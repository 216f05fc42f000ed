import type { FrameworkAnswer } from "../frameworks/framework.ts";
import type { AiSdkPart, AiSdkToolContent } from "./ai-sdk-agent.ts";
import { resultContent } from "./tool-content.ts";

/** The tool calls that the caller has just approved or declined. The SDK ends them before its first step, so no step contains their results. */
export class DecidedCalls {
  readonly results: AiSdkToolContent[] = [];
  readonly #count: number;

  constructor(answers: readonly FrameworkAnswer[]) {
    this.#count = answers.filter(({ kind }) => kind === "approval").length;
  }

  /** True if this part is the last of the results. */
  add(part: AiSdkPart): boolean {
    if (this.results.length === this.#count || part.type === "tool-call") return false;
    this.results.push(resultContent(part));
    return this.results.length === this.#count;
  }
}
