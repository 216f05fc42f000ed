import { A2AError } from "../../protocol/error.ts";
import { readStatus } from "../../protocol/serial.ts";
import type { ToolDefinition } from "./contract.ts";
import type { McpRequest } from "./face.ts";
import { readWholeTask } from "./follow-task.ts";
import { readMcpTaskId } from "./mcp-task.ts";
import { callAgent } from "./operation.ts";
import { ANSWER_TOOL, openQuestions } from "./questions.ts";
import { sendAnswer, type ToolCall } from "./run-tool.ts";
import { invalid } from "./tools/tool-input.ts";

/** Answers the question of an agent, for clients that cannot show questions to their users. */
export const ANSWER_TOOL_DEFINITION: ToolDefinition = {
  name: ANSWER_TOOL,
  title: "Answer an agent's question",
  description: "Answers the question of an agent that waits, and returns what the agent does next.",
  inputSchema: {
    type: "object",
    properties: {
      task: { type: "string", description: "The task that waits, as the question names it." },
      answer: { description: "The answer: a text, or the data that the question asks for." },
    },
    required: ["task", "answer"],
    additionalProperties: false,
  },
};

/** The call that continues the task after the answer. Throws `invalid-params` if the task does not wait. */
export async function answerByTool(request: McpRequest, call: ToolCall): Promise<ToolCall> {
  const { task: text, answer } = call.args;
  const name = typeof text === "string" ? readMcpTaskId(text) : undefined;
  if (name === undefined) throw invalid("task", "must name a task that waits");
  if (answer === undefined) throw invalid("answer", "is required");
  const caller = await callAgent(request, name.agent, call);
  const task = await readWholeTask(caller.service, caller.scope, name.id).catch((error: unknown) => {
    throw error instanceof A2AError && error.code === "task-not-found" ? invalid("task", "does not exist") : error;
  });
  const [question] = openQuestions(readStatus(task.status));
  if (question === undefined) throw invalid("task", "does not wait for an answer");
  await sendAnswer(caller, name.id, {
    question,
    parts: [typeof answer === "string" ? { text: answer } : { data: answer }],
  });
  return { ...call, resumed: name };
}
