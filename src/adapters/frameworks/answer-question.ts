import type { TaskContext } from "../../engine/agent/agent.ts";
import { toolFailureOf } from "../../protocol/tool-part.ts";
import { ANYTHING, APPROVAL, APPROVAL_SCHEMA, approvalText } from "../models/run-tool.ts";
import type { FrameworkAnswer, FrameworkQuestion } from "./framework.ts";
import type { AdapterOptions } from "./framework-options.ts";

/** Asks the caller, unless the options say that a tool call needs no approval. Waits for the answer, also across restarts. */
export async function answerQuestion(
  task: TaskContext,
  question: FrameworkQuestion,
  { approve }: Pick<AdapterOptions, "approve">,
): Promise<FrameworkAnswer> {
  const { key } = question;
  if (question.kind === "approval") {
    const { name, input } = question;
    const isAsked = typeof approve === "function" ? approve({ name, input }, task) : approve;
    if (!isAsked) return { kind: "approval", key, decision: { approved: true } };
    const decision = await task.ask(approvalText(name, input), {
      name: `approve ${key}`,
      schema: APPROVAL,
      jsonSchema: APPROVAL_SCHEMA,
    });
    return { kind: "approval", key, decision };
  }
  if (question.kind === "tool") {
    const { name, input } = question;
    const output = await task.ask(`Please run the tool ${name} and answer with its result.`, {
      name: `client ${key}`,
      schema: ANYTHING,
      tool: { name, input },
    });
    const error = toolFailureOf(output);
    return error === undefined ? { kind: "tool", key, name, output } : { kind: "tool", key, name, error };
  }
  const value = await task.ask(question.question, { name: `input ${key}`, schema: ANYTHING });
  return { kind: "input", key, value };
}
