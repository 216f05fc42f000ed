import type { A2ATask } from "palaver/plain";
import { at, get, post } from "../exchange.ts";

/** What is sent to make a task, and the task as it was then. */
export async function sendTask(url: string, body: object): Promise<A2ATask> {
  const answer = await post(`${url}/a2a/tasks/send`, body);
  if (answer.status !== 200) throw new Error(`Submit failed: HTTP ${answer.status}`);
  // What is in it is for the tests to check.
  return answer.json as A2ATask;
}

export async function getTask(url: string, id: string): Promise<A2ATask> {
  const answer = await get(`${url}/a2a/tasks/${id}`);
  if (answer.status !== 200) throw new Error(`HTTP ${answer.status}: ${answer.text}`);
  return answer.json as A2ATask;
}

/** Looks until the task has ended. */
export async function endedTask(url: string, id: string): Promise<A2ATask> {
  for (;;) {
    const task = await getTask(url, id);
    if (task.state === "completed" || task.state === "failed") return task;
  }
}

/** The answer in a task: the text of the last message that is the agent's. */
export function responseText({ messages }: A2ATask): string {
  const last = messages.findLast(({ role }) => role === "agent");
  return (last?.parts ?? []).map((part) => at(part, "text")).join("");
}

export function says(role: "user" | "agent", text: string): object {
  return { role, parts: [{ type: "text", text }] };
}
