import type { JsonObject } from "../../../protocol/json.ts";
import { readStatus, type StoredTask } from "../../../protocol/serial.ts";
import { callTool } from "../call-tool.ts";
import type { McpRequest } from "../face.ts";
import { followTask } from "../follow-task.ts";
import { callAgent } from "../operation.ts";
import { openQuestions, requestFor } from "../questions.ts";
import type { ToolCall, ToolOutcome } from "../run-tool.ts";
import { requestId } from "./questions-on-stream.ts";

export interface StreamedCall {
  readonly name: string;
  readonly call: ToolCall;
  /** Sends a message to the client, on the stream that answers the call. */
  readonly send: (message: JsonObject) => void;
}

/**
 * Calls a tool, and asks the client the agent's questions on the stream. The responses come in other requests, perhaps to another node; they change the
 * task, which this function follows.
 */
export async function callOnStream(request: McpRequest, { name, call, send }: StreamedCall): Promise<ToolOutcome> {
  const sent = new Set<string>();
  let outcome = await callTool(request, name, call);
  while (outcome.kind === "input") {
    const { agent, task } = outcome;
    ask(request, { agent, task, call, sent, send });
    const caller = await callAgent(request, agent, call);
    const changed = await followTask(caller.service, caller.scope, { task, options: call });
    outcome = await callTool(request, name, { ...call, resumed: { agent, id: changed.id } });
  }
  return outcome;
}

interface AskOptions {
  readonly agent: string;
  readonly task: StoredTask;
  readonly call: ToolCall;
  /** Ids of questions that the client has been asked. */
  readonly sent: Set<string>;
  readonly send: StreamedCall["send"];
}

function ask(request: McpRequest, { agent, task, call, sent, send }: AskOptions): void {
  for (const question of openQuestions(readStatus(task.status))) {
    const shown = requestFor(question, call.client);
    if (shown === undefined || sent.has(question.id)) continue;
    sent.add(question.id);
    const { mode, ...params } = shown.params;
    send({
      jsonrpc: "2.0",
      id: requestId(request, { agent, id: task.id, question: question.id }),
      method: shown.method,
      // Earlier revisions know forms only, and no modes.
      params: mode === "url" ? { mode, ...params } : params,
    });
  }
}
