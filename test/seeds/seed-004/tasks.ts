import type { A2ATask } from "palaver/plain";
import { at, get, post } from "../exchange.ts";

/** Sends a message and returns the task of the response. */
export async function sendTask(url: string, body: object): Promise<A2ATask> {
  const answer = await post(`${url}/a2a/tasks/send`, body);
  if (answer.status !== 200) throw new Error(`Submit failed: HTTP ${answer.status}`);
  // Unchecked cast: the tests check the content.
  return answer.json as A2ATask;
}

export async function getTask(url: string, id: string): Promise<A2ATask> {
  const answer = await get(`${url}/a2a/tasks/${id}`);
  if (answer.status !== 200) throw new Error(`HTTP ${answer.status}: ${answer.text}`);
  return answer.json as A2ATask;
}

/** Polls until the task has ended. */
export async function endedTask(url: string, id: string): Promise<A2ATask> {
  for (;;) {
    const task = await getTask(url, id);
    if (task.state === "completed" || task.state === "failed") return task;
  }
}

/** The answer of a task: the text of the agent's last message. */
export function responseText({ messages }: A2ATask): string {
  const last = messages.findLast(({ role }) => role === "agent");
  return (last?.parts ?? []).map((part) => at(part, "text")).join("");
}

export function says(role: "user" | "agent", text: string): object {
  return { role, parts: [{ type: "text", text }] };
}
